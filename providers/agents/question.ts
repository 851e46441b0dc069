import type { ApprovalActionClass, ApprovalRisk } from '../../contracts/runs/approval';

/** The action an agent requests permission for. */
export interface AgentQuestion {
  /** The agent's own name for the question; the same one again is the same question. */
  requestId: string;
  /** `elicitation`: it wants to know something rather than to do something. */
  requestKind: 'approval' | 'elicitation';
  actionClass: ApprovalActionClass;
  action: string;
  details?: Record<string, unknown>;
  resourceScope?: string[];
  /** What the agent thinks can go wrong; it can raise the risk of the class, not lower it. */
  riskClass?: ApprovalRisk;
  /** How long it waits, in milliseconds; five minutes when absent. */
  lifetimeMs?: number;
  /** The provider's session, turn and item, where it has them. */
  threadId?: string;
  turnId?: string;
  itemId?: string;
}

/** The response to an agent. Anything but `approved` is a no. */
export interface AgentResponse {
  decision: 'approved' | 'rejected' | 'expired' | 'cancelled';
  approvalId?: string;
  /** Who decided. */
  decidedBy: string;
  note?: string;
  /** Data that was given with the decision; it is in no record. */
  response?: Record<string, unknown>;
}
