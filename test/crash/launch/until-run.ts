import { eventually } from '../../../platform/testing/eventually';
import type { Caller } from '../../support/caller';

/** Waits until a run of a workflow is as expected, and returns it. */
export const untilRun = (call: Caller, id: string, expected: object) =>
  eventually(
    async () => {
      const run = await call.ok('GET', `/api/workflows/runs/${id}`);
      expect(run).toMatchObject(expected);
      return run;
    },
    { withinMs: 120_000 },
  );
