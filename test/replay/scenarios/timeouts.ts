import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import type { Recording, Stage } from './stage';

/** Runs that have a minute: one that needs less, and one that does not end. */
export async function timeoutScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  await call.ok('PATCH', '/api/settings/features', { agents: { timeoutMinutes: 1 } });
  const launch = async (agent: string): Promise<string> => {
    const task = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
    const { attemptId } = await eventually(() => call.start(task.id, { agent }));
    return attemptId;
  };
  const inTime = await launch('worker-bee');
  const overtime = await launch('elsewhere');
  await call.ok('PATCH', '/api/settings/features', { agents: { timeoutMinutes: 240 } });
  return [
    ['agent-run-in-time', agentRunId(inTime)],
    ['agent-run-timed-out', agentRunId(overtime)],
  ];
}
