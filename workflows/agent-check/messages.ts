import type { Signed } from '../message-proofs';

/** A configured agent to check on a host; its configuration is read from the stores there. */
export interface CheckedAgent {
  hostId: string;
  agentType: string;
  /** The revision of the agents as the caller knows it: a changed configuration is another check. */
  revision: number;
}

export type AgentCheckInput = CheckedAgent & Signed;

/** One check of an agent on a host at a time: a request that is repeated joins it. */
export const agentCheckId = ({ hostId, agentType, revision }: CheckedAgent): string =>
  `agent-check/${hostId}/${agentType}/${revision}`;
