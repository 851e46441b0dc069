import { agentRunId } from '../../../../workflows/agent-run/messages';
import type { Recording, Stage } from '../stage';

/** Runs whose work in the stores is done by the worker of their workflow: one that ends, one that is refused, one that is queued first. */
export async function storeWorkScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const aTask = async (git: object = {}): Promise<string> =>
    (await call.createTask({ title: 'Recorded', git: { repo: 'sample', ...git } })).id;
  const launch = async (agent: string, taskId?: string) => {
    const id = taskId ?? (await aTask());
    const { attemptId } = await call.start(id, { agent });
    return { taskId: id, attemptId: attemptId as string };
  };
  const stop = ({ taskId, attemptId }: { taskId: string; attemptId: string }) =>
    call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });

  const ended = await launch('worker-bee');
  await call.ended(ended.taskId);
  const failed = await launch('failing');
  await call.ended(failed.taskId);
  const first = await launch('long-bee');
  const second = await launch('long-bee');
  const queued = await launch('worker-bee');
  await stop(first);
  await stop(second);
  await call.ended(queued.taskId);
  return [
    ['agent-run-store-work-here', agentRunId(ended.attemptId)],
    ['agent-run-store-work-here-failed', agentRunId(failed.attemptId)],
    ['agent-run-store-work-here-stopped', agentRunId(first.attemptId)],
    ['agent-run-store-work-here-queued', agentRunId(queued.attemptId)],
  ];
}
