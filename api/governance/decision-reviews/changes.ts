import type { DecisionReview } from '../../../contracts/governance/decision-review';
import type { ReviewRecord } from '../../../domain/decision-reviews/record';
import { RefusedError } from '../../../domain/refusal';
import { assertFound } from '../../../platform/errors/app-error';
import { recordReviewDecision, wholeReview } from '../../../stores/governance/decision-reviews/review-records';
import { refusalError } from '../../refusal-error';
import type { DecisionReviewContext } from './context';

/** The stored review. @throws AppError 404 */
export async function findReview({ decisionReviews }: DecisionReviewContext, id: string): Promise<ReviewRecord> {
  const review = await decisionReviews.get(id);
  assertFound(review, 'decision review', id);
  return review;
}

/** What `make` returns. @throws AppError for what the rules of reviews refuse, with the present state */
export function unlessRefused<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof RefusedError ? refusalError(error.refusal) : error;
  }
}

/** Changes a review, notifies its watchers, and has what follows done. @throws AppError 404, 409 with the present state */
export async function changeReview(
  context: DecisionReviewContext,
  id: string,
  change: (current: ReviewRecord) => ReviewRecord,
): Promise<DecisionReview> {
  const changed = await context.decisionReviews.change(id, (current) => unlessRefused(() => change(current)));
  assertFound(changed, 'decision review', id);
  return announced(context, changed);
}

/** The review with its texts, once what follows from it is begun. */
export async function announced(context: DecisionReviewContext, review: ReviewRecord): Promise<DecisionReview> {
  const { id: reviewId, taskId, state, round, revision } = review;
  const notice = { type: 'decision-review:changed' as const, reviewId, taskId, state, round, revision };
  await context.feed.append({ type: 'notice', notice });
  if (review.work === 'decide') {
    await recordReviewDecision(context, review);
  } else if (review.work !== undefined) {
    await context.wakeReview(reviewId);
  }
  return wholeReview(context.decisionReviews, review);
}
