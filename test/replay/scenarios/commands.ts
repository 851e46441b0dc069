import { eventually } from '../../../platform/testing/eventually';
import { agentRunId, commandUpdate, completeUpdate, stopUpdate } from '../../../workflows/agent-run/messages';
import { killPart } from '../../support/stack/service';
import type { Recording, Stage } from './stage';

/** Commands to a run by callers and from the Temporal UI, also when no run is left to receive them. */
export async function commandScenarios({ service, temporal }: Stage): Promise<Recording[]> {
  const { call } = service;
  const launch = async (agent: string) => {
    const task = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
    const key = { 'x-idempotency-key': `recorded-${task.id}` };
    const { attemptId } = await eventually(() => call.start(task.id, { agent }, key));
    const send = (verb: string, message?: string) =>
      call.ok(
        'POST',
        `/api/agents/${task.id}/${verb}`,
        { attemptId, ...(message === undefined ? {} : { message }) },
        { 'x-idempotency-key': `recorded-${task.id}-${verb}` },
      );
    const run = { taskId: task.id as string, attemptId: attemptId as string };
    return { ...run, send, handle: temporal.workflow.getHandle(agentRunId(run.attemptId)) };
  };
  const spoken = await launch('listener');
  await Promise.all([spoken.send('message', 'one'), spoken.send('conversation/steer', 'two')]);
  const steer = { attemptId: spoken.attemptId, type: 'steer', message: 'three', actor: 'olivia' } as const;
  await spoken.handle.executeUpdate(commandUpdate, { args: [steer] });
  await spoken.send('conversation/interrupt');
  await call.ended(spoken.taskId);

  const stopped = await launch('listener');
  await stopped.send('message', 'one');
  await stopped.handle.executeUpdate(stopUpdate, { args: [{ attemptId: stopped.attemptId, actor: 'olivia' }] });

  const remote = await launch('elsewhere');
  await remote.send('message', 'is only recorded');
  const end = { attemptId: remote.attemptId, status: 'blocked', summary: 'It is gone.', actor: 'olivia' } as const;
  await remote.handle.executeUpdate(completeUpdate, { args: [end] });

  const reported = await launch('elsewhere');
  await call.ok('POST', `/api/agents/${reported.taskId}/complete`, { attemptId: reported.attemptId, success: true });

  const unheard = await launch('listener');
  await eventually(async () => {
    const { lastSequence } = await call.status(unheard.taskId);
    if (lastSequence < 2) {
      throw new Error('not listening yet');
    }
  });
  killPart(service, 'worker');
  const answer = await eventually(() => unheard.send('conversation/steer', 'anybody?'));
  if (answer.reason !== 'agent-lost') {
    throw new Error(`expected a lost agent, not ${answer.reason}`);
  }
  const { attemptId } = await eventually(async () => {
    const status = await call.status(unheard.taskId);
    if (status.attemptId === unheard.attemptId) {
      throw new Error('not retried yet');
    }
    return status;
  });
  await call.ok('POST', `/api/agents/${unheard.taskId}/stop`, { attemptId });
  return [
    ['agent-run-commands', agentRunId(spoken.attemptId)],
    ['agent-run-stopped-by-operator', agentRunId(stopped.attemptId)],
    ['agent-run-completed-by-operator', agentRunId(remote.attemptId)],
    ['agent-run-remote-observed', agentRunId(reported.attemptId)],
    ['agent-run-command-lost', agentRunId(unheard.attemptId)],
  ];
}
