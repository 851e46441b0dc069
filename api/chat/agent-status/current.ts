import type { AgentStatus } from '../../../contracts/chat/agent-status';
import { compact } from '../../../platform/json/compact';
import type { AgentStatusStore } from '../../../stores/chat/agent-status-store';
import type { ActiveAttempt, AttemptStore } from '../../../stores/runs/attempt-store';

/** Limit of the runs in a status. */
const maxRuns = 200;

const ofRun = ({ _id, agent, state, taskId, objective, startedAt }: ActiveAttempt) => ({
  agent,
  status: state,
  taskId,
  taskTitle: objective.title,
  attemptId: _id,
  ...compact({ startedAt }),
});

/**
 * The agents at work: the last reports, and the runs of the board, which report themselves. No agent is idle while a run is
 * active, whatever was reported.
 */
export async function currentAgentStatus({
  agentStatus,
  attempts,
}: {
  agentStatus: Pick<AgentStatusStore, 'current'>;
  attempts: Pick<AttemptStore, 'listActive'>;
}): Promise<AgentStatus> {
  const [reported, active] = await Promise.all([agentStatus.current(), attempts.listActive(maxRuns)]);
  const runs = active.map(ofRun);
  if (!reported) {
    return { status: runs.length > 0 ? 'working' : 'idle', subAgentCount: 0, activeAgents: runs };
  }
  const { report, at } = reported;
  const running = new Set(runs.map(({ agent, taskId }) => `${agent} ${taskId}`));
  const others = report.activeAgents.filter(({ agent, taskId }) => !running.has(`${agent} ${taskId ?? ''}`));
  return {
    ...report,
    status: report.status === 'idle' && runs.length > 0 ? 'working' : report.status,
    activeAgents: [...others, ...runs],
    lastUpdated: at,
  };
}
