import type { Refusal } from '../../contracts/refusal';
import type { ReviewAcceptance } from '../../contracts/tasks/review';
import type { Signed } from '../message-proofs';

/** One execution at a time per reviewed attempt: the id is the lock. */
export const reviewAcceptanceId = (attemptId: string): string => `review/${attemptId}`;

/** An acceptance as the API has it from the actor. */
export interface AcceptedReview extends ReviewAcceptance {
  /** Of this decision: repeated, it is the same one. */
  decisionId: string;
  taskId: string;
  actor: string;
  /** Whether the actor may merge into any branch. */
  anyBranch?: true;
}

export interface ReviewAcceptanceInput extends AcceptedReview, Signed {
  /** How long a silent worker counts as alive, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** How an acceptance ended. */
export type ReviewOutcome = { status: 'accepted'; decisionId: string } | Refusal;
