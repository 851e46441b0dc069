import type { MissingAnswer } from '../../contracts/governance/decision-review';
import { withDraft, withFailure } from '../../domain/decision-reviews/changes';
import { questionsOf, type ReviewRecord } from '../../domain/decision-reviews/record';
import { cut } from '../../platform/text/cut';
import { recordReviewDecision } from '../../stores/governance/decision-reviews/review-records';
import type { Stores } from '../../stores/open-stores';
import { announce } from './announce';

export interface DecisionReviewDependencies extends Pick<Stores, 'audit' | 'decisionReviews' | 'decisions' | 'feed'> {
  now: () => Date;
}

/** What a review is waiting for; `details` is what operators see. */
export type ReviewStep = { details: string } & (
  { next: 'ask'; questions: MissingAnswer[] } | { next: 'draft' } | { next: 'wait' }
);

export function createDecisionReviewActivities(deps: DecisionReviewDependencies) {
  const { decisionReviews, now } = deps;
  return {
    /** What is to be done next; a decision that is due is recorded on the way. */
    async nextReviewStep({ reviewId }: { reviewId: string }): Promise<ReviewStep> {
      const stored = await decisionReviews.get(reviewId);
      if (!stored) {
        return { next: 'wait', details: 'There is no such review.' };
      }
      const review = stored.work === 'decide' ? ((await recordReviewDecision(deps, stored)) ?? stored) : stored;
      const details = `${review.state}, round ${review.round} of ${review.rounds}`;
      if (review.work === 'ask') {
        return { next: 'ask', questions: questionsOf(review), details };
      }
      return { next: review.work === 'draft' ? 'draft' : 'wait', details };
    },

    /** Takes a participant out of the review whose model does not answer. */
    async failParticipant({
      reviewId,
      question,
      reason,
    }: {
      reviewId: string;
      question: MissingAnswer;
      reason: string;
    }): Promise<void> {
      const { participantId } = question;
      const failure = { reason: cut(reason, longestReason), at: now().toISOString() };
      await change(reviewId, (review) => withFailure(review, question, failure), {
        action: 'decision-review.fail',
        details: { ...question, reason: failure.reason },
        once: `${reviewId}/fail/${participantId}`,
      });
    },

    /** Records that no model drafts the synthesis. */
    async failDraft({ reviewId, reason }: { reviewId: string; reason: string }): Promise<void> {
      const draftFailure = cut(reason, longestReason);
      await change(reviewId, (review) => withDraft(review, { draftFailure }, now().toISOString()), {
        action: 'decision-review.fail',
        details: { draft: true, reason: draftFailure },
        once: `${reviewId}/fail-draft`,
      });
    },
  };

  async function change(
    reviewId: string,
    how: (review: ReviewRecord) => ReviewRecord,
    done: { action: string; details: Record<string, unknown>; once: string },
  ): Promise<void> {
    const changed = await decisionReviews.change(reviewId, how);
    if (changed) {
      await announce(deps, changed, done);
    }
  }
}

/** Longest reason of a failure, in characters. */
const longestReason = 1_000;

export type DecisionReviewActivities = ReturnType<typeof createDecisionReviewActivities>;
