import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { HookContext } from '../../contracts/settings/hook';
import { eventually } from '../../platform/testing/eventually';
import { deliverHooksId, type DeliverHooksInput } from '../../workflows/deliver-hooks/messages';
import { recordedTypes } from '../../workflows/recorded-types';
import { gate } from '../support/workflows/gate';
import { stubbedWorkers, Stubs } from '../support/workflows/stubbed-workers';

describe("an operator's cancel of hooks", () => {
  const workers = stubbedWorkers(['hooksFor', 'runHook', 'giveUpHook']);

  async function delivery(runHook: () => Promise<void>) {
    const id = `task/${randomUUID()}`;
    const executionId = `${id}/hook_1`;
    const hooks = [{ id: 'hook_1', name: 'Notify' }];
    const stubs = new Stubs({ hooksFor: async () => hooks, runHook, giveUpHook: async () => undefined });
    workers.use(stubs, [id, executionId]);
    workers.terminateAfterwards(deliverHooksId(id));
    const context: HookContext = {
      event: 'task.done',
      taskId: 'task_1',
      taskTitle: 'A task',
      taskType: 'task',
      priority: 'medium',
      location: 'active',
      newStatus: 'done',
      timestamp: '2026-01-01T00:00:00.000Z',
    };
    const timings = { firstPauseMs: 60_000, longestPauseMs: 60_000, giveUpAfterMs: 600_000 };
    const input: DeliverHooksInput = { id, context, timings };
    const handle = await workers.temporal.client.workflow.start(recordedTypes.deliverHooks, {
      workflowId: deliverHooksId(id),
      taskQueue: workers.boardQueue,
      args: [input],
    });
    await eventually(() => expect(stubs.names()).toContain('runHook'));
    return { executionId, handle, stubs };
  }

  const cancelRequested = async (handle: WorkflowHandle) => {
    const { events } = await handle.fetchHistory();
    expect(events?.some((event) => event.activityTaskCancelRequestedEventAttributes)).toBe(true);
  };

  test('keeps the outcome of the attempt that is being made', async () => {
    const sending = gate(undefined);
    const { handle, stubs } = await delivery(sending.wait);
    await handle.cancel();
    await eventually(() => cancelRequested(handle));
    expect((await handle.describe()).status.name).toBe('RUNNING');
    sending.open();
    await expect(handle.result()).resolves.toEqual({ hooks: 1 });
    expect(stubs.names()).toEqual(['hooksFor', 'runHook']);
  });

  test('ends an execution that waits for its next attempt, without another', async () => {
    const { executionId, handle, stubs } = await delivery(() => Promise.reject(new Error('not received')));
    await handle.cancel();
    await expect(handle.result()).resolves.toEqual({ hooks: 1 });
    expect(stubs.names()).toEqual(['hooksFor', 'runHook', 'giveUpHook']);
    expect(stubs.inputs('giveUpHook')).toEqual([{ id: executionId }]);
  });
});
