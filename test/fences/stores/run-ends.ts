import timers from 'node:timers/promises';
import { createRunEnding } from '../../../services/workflow-runs/runs/end-run';
import type { RunEvent, RunEventEntry } from '../../../services/workflow-runs/runs/execution/events';
import { nothing } from '../../../services/workflow-runs/runs/execution/progress-state';
import { createRunWriter } from '../../../services/workflow-runs/runs/execution/projection';
import { followRun } from '../../../services/workflow-runs/runs/http/follow';
import type { RunRecord, RunStatus } from '../../../services/workflow-runs/runs/run';
import { createRunStore, type RunStore } from '../../../services/workflow-runs/runs/store';
import type { EntryLog } from '../../../stores/port/collection';
import { at } from '../../support/factories/records';
import { Crash, crash, type Interleaving, interleaving } from '../interleaving';
import type { OpenStore } from './open-store';

const table = 'workflow-runs';
const completed: RunEvent = { RunCompleted: { duration_ms: 5 } };
const cancelled: RunEvent = { RunCancelled: { duration_ms: 7 } };
const failed: RunEvent = { RunFailed: { duration_ms: 6, error: 'It failed.' } };

/** The end of a workflow run: its events are there before its record has it, and a watcher reads the last one behind that. */
export function runEndFences(open: OpenStore): void {
  describe('ends of workflow runs', () => {
    let db: Interleaving;
    let runs: RunStore;
    let events: EntryLog<RunEventEntry>;
    let save: ReturnType<typeof createRunWriter>;
    let watching: AbortController;
    const putCheckpoints = jest.fn(() => Promise.resolve());
    beforeEach(async () => {
      db = interleaving(await open());
      runs = await createRunStore(db);
      events = await db.log<RunEventEntry>({ name: 'workflow-run-events' });
      const put = () => Promise.resolve();
      save = createRunWriter({ runs, events, checkpoints: { put: putCheckpoints }, children: { putUsage: put } });
      await runs.insert({
        ...{ _id: 'r', status: 'running', revision: 1, created_at: at(0), guidance: [], stages: [], context: {} },
      } as unknown as RunRecord);
      watching = new AbortController();
    });
    afterEach(async () => {
      watching.abort();
      expect(db.isThrough).toBe(true);
      await db.close();
    });

    const stored = async (): Promise<RunEvent[]> => (await events.read('r', 0, 100)).map(({ event }) => event);
    const report = (version: number, task: number, event: RunEvent, status?: RunStatus): Promise<void> =>
      save({
        ...nothing(),
        ...{ runId: 'r', version, task, set: status ? { status, ended_at: at(9) } : {} },
        events: [{ at: at(9), event, key: `${Object.keys(event)[0]}/run` }],
      });

    it.each([
      ['completed', completed],
      ['failed', failed],
      ['cancelled', cancelled],
    ] as const)('have their events before they are %s, and once', async (status, event) => {
      let before: unknown;
      db.before(table, 'findOneAndUpdate', async () => {
        before = { events: await stored(), status: (await runs.get('r'))?.status };
        throw new Crash('killed here');
      });
      await expect(report(2, 10, event, status)).rejects.toThrow(Crash);
      expect(before).toEqual({ events: [event], status: 'running' });
      await report(2, 13, event, status);
      await report(2, 13, event, status);
      expect(await stored()).toEqual([event]);
      expect((await runs.get('r'))?.status).toBe(status);
    });

    it('replace the checkpoints that a killed try has left', async () => {
      const checkpoints = [{ id: 'n.1', stage_id: 'n', visit: 1, timestamp: at(9), next: [] }];
      const set = { status: 'completed', ended_at: at(9) } as const;
      await save({ ...nothing(), runId: 'r', version: 2, task: 10, set, checkpoints } as unknown as Parameters<
        typeof save
      >[0]);
      expect(putCheckpoints).toHaveBeenLastCalledWith('r', { version: 2, isRepeated: true }, expect.anything());
    });

    it('have the events of a record that an earlier version has ended first', async () => {
      await runs.project('r', { version: 2, task: 10 }, () => ({ waiting: false }));
      await runs.project('r', { version: 3, task: 10 }, () => ({ status: 'completed' }));
      await report(3, 10, completed, 'completed');
      expect(await stored()).toEqual([completed]);
    });

    it('take no events of a worker whose task another one has repeated', async () => {
      await report(2, 13, completed, 'completed');
      await report(2, 10, cancelled, 'cancelled');
      expect(await stored()).toEqual([completed]);
      expect((await runs.get('r'))?.status).toBe('completed');
    });

    describe('of a watcher', () => {
      const watch = async (): Promise<{ read: RunEvent[]; status: RunStatus | undefined }> => {
        const read: RunEvent[] = [];
        let status: RunStatus | undefined;
        for await (const { data } of followRun({ events, runs }, 'r', { after: 0, signal: watching.signal })) {
          read.push(data as RunEvent);
          status = (await runs.get('r'))?.status;
        }
        return { read, status };
      };

      it('come when the record has them', async () => {
        const watched = watch();
        // The record is written when the watcher has found it without its end.
        db.before(table, 'findOneAndUpdate', () => new Promise<void>((resolve) => db.after(table, 'get', resolve)));
        await report(2, 10, completed, 'completed');
        expect(await watched).toEqual({ read: [completed], status: 'completed' });
      });

      it('are looked for soon also behind many other events', async () => {
        const pause = jest.spyOn(timers, 'setTimeout');
        const reader = followRun({ events, runs }, 'r', { after: 0, signal: watching.signal });
        for (let version = 2; version < 10; version += 1) {
          const paused = { at: at(9), event: { RunPaused: {} }, key: `${version}` };
          await save({ ...nothing(), runId: 'r', version, task: 10, set: {}, events: [paused] });
          expect((await reader.next()).value).toMatchObject({ data: paused.event });
        }
        const last = reader.next();
        db.before(table, 'findOneAndUpdate', () => new Promise<void>((resolve) => db.after(table, 'get', resolve)));
        await report(10, 10, completed, 'completed');
        expect((await last).value).toMatchObject({ data: completed });
        const pauses = pause.mock.calls.map(([ms]) => ms);
        // None goes on behind the end.
        expect(pause.mock.calls.every(([, , options]) => options?.signal?.aborted)).toBe(true);
        pause.mockRestore();
        expect(pauses).toContain(10);
        expect(pauses).not.toContain(1_000);
      });

      it.each([
        ['another end', cancelled, 'cancelled'],
        ['the same end later', completed, 'completed'],
      ] as const)('follow the record when its repeated task comes to %s', async (_which, event, status) => {
        const watched = watch();
        db.before(table, 'findOneAndUpdate', crash);
        await expect(report(2, 10, completed, 'completed')).rejects.toThrow(Crash);
        await report(2, 13, { RunPaused: {} });
        await report(3, 20, event, status);
        expect(await watched).toEqual({ read: [{ RunPaused: {} }, event], status });
        expect(await stored()).toEqual([completed, { RunPaused: {} }, event]);
      });

      it('follow the record when a run without a workflow is cancelled after all', async () => {
        const watched = watch();
        const end = createRunEnding({
          ...{ runs, events, now: () => new Date(at(9)) },
          continuations: { delete: () => Promise.resolve() },
          notifyParent: () => Promise.resolve(),
        });
        const run = (await runs.get('r'))!;
        db.before(table, 'findOneAndUpdate', crash);
        await expect(end(run, { status: 'failed', message: 'lost' })).rejects.toThrow(Crash);
        await end(run, { status: 'cancelled' });
        const { read, status } = await watched;
        expect(read.map((event) => Object.keys(event)[0])).toEqual(['RunCancelled']);
        expect(status).toBe('cancelled');
      });
    });
  });
}
