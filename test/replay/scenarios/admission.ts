import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { cancelExecutionTreeId } from '../../../workflows/cancel-execution-tree/messages';
import type { Recording, Stage } from './stage';

/** A launch that waits and continues, and a tree that is cancelled. */
export async function admissionScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const launch = async () => {
    const task = await call.createTask({ title: 'Recorded' });
    const { attemptId } = await call.start(task.id, { agent: 'elsewhere' });
    return { taskId: task.id as string, attemptId: attemptId as string };
  };
  const first = await launch();
  const second = await launch();
  const waiting = await launch();
  await call.ok('POST', `/api/agents/${first.taskId}/stop`, { attemptId: first.attemptId });
  await eventually(async () => {
    const { state } = await call.status(waiting.taskId);
    if (state !== 'running') {
      throw new Error('still queued');
    }
  });
  const cancel = { idempotencyKey: 'recorded-cancel', reason: 'recorded' };
  for (const { attemptId } of [second, waiting]) {
    await call.ok('POST', `/api/admission/tree/${attemptId}/cancel`, cancel);
  }
  return [
    ['agent-run-queue-confirmed', agentRunId(waiting.attemptId)],
    ['execution-tree-cancel', cancelExecutionTreeId(second.attemptId)],
  ];
}
