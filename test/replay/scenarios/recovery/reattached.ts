import { eventually } from '../../../../platform/testing/eventually';
import { agentRunId } from '../../../../workflows/agent-run/messages';
import { killPart } from '../../../support/stack/service';
import type { Recording, Stage } from '../stage';

/** An agent that outlives two workers and is stopped then, and one that is killed while no worker is there. */
export async function reattachedScenarios({ service }: Stage): Promise<Recording[]> {
  const { call } = service;
  const recovered = async (taskId: string, attemptId: string) =>
    (await call.events(taskId, attemptId)).filter(({ kind }) => kind === 'run.recovered').length;
  const launch = async () => {
    const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
    const { attemptId } = await call.start(id, { agent: 'lasting-bee' });
    await eventually(async () => {
      if ((await call.status(id)).lastSequence < 3) {
        throw new Error('not working yet');
      }
    });
    return { id: id as string, attemptId: attemptId as string };
  };
  const kept = await launch();
  const gone = await launch();
  const events = await call.events(gone.id, gone.attemptId);
  const holder = events.find(({ kind }) => kind === 'run.started').payload.pid as number;
  for (const times of [1, 2]) {
    killPart(service, 'worker');
    if (times === 1) {
      process.kill(-holder, 'SIGKILL');
    }
    await eventually(async () => {
      if ((await recovered(kept.id, kept.attemptId)) < times) {
        throw new Error('no worker has resumed it yet');
      }
    });
  }
  await call.ok('POST', `/api/agents/${kept.id}/stop`, { attemptId: kept.attemptId });
  const retry = await eventually(async () => {
    const { attemptId } = await call.status(gone.id);
    if (attemptId === gone.attemptId) {
      throw new Error('not retried yet');
    }
    return attemptId as string;
  });
  await eventually(() => call.ok('POST', `/api/agents/${gone.id}/stop`, { attemptId: retry }));
  return [
    ['agent-run-reattached', agentRunId(kept.attemptId)],
    ['agent-run-not-reattached', agentRunId(gone.attemptId)],
  ];
}
