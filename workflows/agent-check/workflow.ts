import { proxyActivities } from '@temporalio/workflow';
import type { AgentCheckActivities } from '../../activities/agent-check/activities';
import type { Refusal } from '../../contracts/refusal';
import type { AgentCheck } from '../../contracts/settings/agent-check';
import { hostQueue } from '../queues';
import type { AgentCheckInput } from './messages';

/** Has a host start an agent step by step without giving it work; the longest handshake, login and session fit in. */
export async function agentCheck(input: AgentCheckInput): Promise<AgentCheck | Refusal> {
  const { checkAgent } = proxyActivities<AgentCheckActivities>({
    taskQueue: hostQueue(input.hostId),
    startToCloseTimeout: '15 minutes',
    scheduleToStartTimeout: '20 seconds',
    heartbeatTimeout: '30 seconds',
    retry: { maximumAttempts: 1 },
    summary: 'check the agent',
  });
  return checkAgent(input);
}
