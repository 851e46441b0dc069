import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import type { Recording, Stage } from './stage';

/** Runs that continue the session of an earlier one. */
export async function conversationScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const edges = ['resume', 'follow-up'] as const;
  const recorded: Recording[] = [];
  for (const edge of edges) {
    const description = 'say first';
    const task = await call.createTask({ title: 'Recorded', description, git: { repo: 'sample' } });
    const { attemptId: sourceAttemptId } = await call.start(task.id, { agent: 'scripted' });
    await call.ended(task.id);
    const body = { sourceAttemptId, message: 'wait 60000' };
    const { attemptId } = await call.ok('POST', `/api/agents/${task.id}/conversation/${edge}`, body);
    await call.ok('POST', `/api/agents/${task.id}/conversation/steer`, { attemptId, message: 'say Steered.' });
    await eventually(async () => {
      const status = await call.status(task.id);
      if (status.attemptId !== attemptId || status.state !== 'ended') {
        throw new Error(`${edge} goes on`);
      }
    });
    recorded.push([`agent-run-${edge}`, agentRunId(attemptId)]);
  }
  return recorded;
}
