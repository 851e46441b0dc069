import type { Refusal } from '../../contracts/refusal';
import type { AcceptedReview } from '../../contracts/tasks/review';
import type { Signed } from '../message-proofs';

/** One execution at a time per reviewed attempt: the id is the lock. */
export const reviewAcceptanceId = (attemptId: string): string => `review/${attemptId}`;

export interface ReviewAcceptanceInput extends AcceptedReview, Signed {
  /** How long a silent worker counts as alive, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** How an acceptance ended. */
export type ReviewOutcome = { status: 'accepted'; decisionId: string } | Refusal;
