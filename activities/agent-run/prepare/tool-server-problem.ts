import type { Refusal } from '../../../contracts/refusal';
import type { LaunchFinding } from '../../../contracts/runs/launch/manifest';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { isToolServerMissing } from '../../../domain/agents/tool-server-findings';
import { refusal } from '../../../domain/refusal';

interface Dependencies {
  hostId: string;
  agentFindings: (agent: AgentConfig) => readonly LaunchFinding[];
}

/** Why the agent's session would not open on this host: the program of a required tool server is missing. */
export function toolServerProblem({ hostId, agentFindings }: Dependencies, agent: AgentConfig): Refusal | undefined {
  const findings = agentFindings(agent).filter(isToolServerMissing);
  if (findings.length === 0) {
    return undefined;
  }
  const reasons = findings.map(({ message }) => message).join(' ');
  const message = `The host ${hostId} lacks the program of a required tool server of ${agent.type}. ${reasons}`;
  return refusal('HOST_NOT_READY', message, {
    hostId,
    agent: agent.type,
    findings,
    remediation: findings[0]?.remedy,
  });
}
