import { defineSignal } from '@temporalio/workflow';

/** The work of models for a decision review, of which there is one at a time. */
export const decisionReviewId = (reviewId: string): string => `decision-review/${reviewId}`;

/** What is asked, and of whom, is read from the stores before each step. */
export interface DecisionReviewInput {
  reviewId: string;
  /** The first pause before a model is asked again, and how long a worker may be silent, in milliseconds. */
  retryMs: number;
  heartbeatTimeoutMs: number;
}

/** The review has changed: read it. */
export const reviewChangedSignal = defineSignal('reviewChanged');
