import { Worker } from '@temporalio/worker';
import type { WorkspaceTurn } from '../../domain/admission/schedule';
import { createLog } from '../../platform/log/log';
import { installRuntime } from '../../platform/temporal/runtime';
import { eventually } from '../../platform/testing/eventually';
import { look, schedulerId } from '../../workflows/admission-scheduler/messages';
import { boardQueue } from '../../workflows/queues';
import { type TestTemporal, testTemporal } from '../support/stack/temporal';
import { workflowBundle } from '../support/stack/workflow-bundle';

let temporal: TestTemporal;
beforeAll(async () => {
  installRuntime(createLog({ name: 'test', level: 'error' }));
  temporal = await testTemporal();
});
afterAll(() => temporal.close());

describe('the scheduler of a busy queue', () => {
  it('continues as new while its history is short, with the turn that it had', async () => {
    const { client } = temporal;
    const turn: WorkspaceTurn = { workspaceId: 'w', served: 3 };
    const turns: (WorkspaceTurn | undefined)[] = [];
    const handle = client.workflow.getHandle(schedulerId);
    const worker = await Worker.create({
      connection: temporal.nativeConnection,
      namespace: temporal.namespace,
      taskQueue: boardQueue,
      workflowBundle,
      activities: {
        dispatchQueued: async (input: { turn?: WorkspaceTurn }) => {
          turns.push(input.turn);
          // As when launches are enqueued and released all the time.
          await handle.signal(look);
          return { waiting: 1, turn };
        },
      },
    });
    const running = worker.run();
    const first = await client.workflow.start('admissionScheduler', { workflowId: schedulerId, taskQueue: boardQueue });
    const firstRun = client.workflow.getHandle(schedulerId, first.firstExecutionRunId);
    try {
      await eventually(async () => expect((await firstRun.describe()).status.name).toBe('CONTINUED_AS_NEW'), {
        withinMs: 90_000,
      });
      expect((await firstRun.describe()).historyLength).toBeLessThan(1_100);
      const before = turns.length;
      await eventually(() => expect(turns.length).toBeGreaterThan(before));
      expect(turns[0]).toBeUndefined();
      expect(new Set(turns.slice(1).map((each) => each?.served))).toEqual(new Set([3]));
    } finally {
      await handle.terminate('the test is over');
      worker.shutdown();
      await running;
    }
  }, 120_000);
});
