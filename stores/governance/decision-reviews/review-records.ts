import { createHash } from 'node:crypto';
import { slug } from '../../../contracts/common';
import type { DecisionReview, DecisionReviewSummary } from '../../../contracts/governance/decision-review';
import { missingOf, type ReviewRecord } from '../../../domain/decision-reviews/record';
import { compact } from '../../../platform/json/compact';
import { DuplicateKeyError } from '../../port/errors';
import type { DecisionStore } from '../decision-store';
import type { DecisionReviewStore } from './decision-review-store';

/** A review as lists show it. */
export const reviewSummary = (review: ReviewRecord): DecisionReviewSummary => {
  const {
    id,
    taskId,
    title,
    state,
    rounds,
    round,
    participants,
    decisionId,
    createdBy,
    createdAt,
    updatedAt,
    revision,
  } = review;
  return {
    ...{ id, taskId, title, state, rounds, round, participants, ...compact({ decisionId }) },
    ...{ createdBy, createdAt, updatedAt, revision, missing: missingOf(review) },
  };
};

/** A review with its texts. */
export async function wholeReview(
  reviews: Pick<DecisionReviewStore, 'textsOf'>,
  review: ReviewRecord,
): Promise<DecisionReview> {
  const { prompt, context, answers, draft, draftFailure, synthesis, canceled } = review;
  const texts = await reviews.textsOf(review.id, answers);
  return {
    ...reviewSummary(review),
    ...{ prompt, context, answers: answers.map((answer) => ({ ...answer, text: texts.get(answer.id) ?? '' })) },
    ...compact({ draft, draftFailure, synthesis, canceled }),
  };
}

/** The id of the decision that a review becomes: always the same one. */
export const decisionOfReview = (reviewId: string): string =>
  `decision_${createHash('sha256').update(`decision-review\n${reviewId}`).digest('hex').slice(0, 12)}`;

const agentOf = (actor: string): string | undefined => {
  const name = slug.safeParse(actor.replace(/^agent:/, ''));
  return actor.startsWith('agent:') && name.success ? name.data : undefined;
};

/** Records the decision that a finalized review is to become, unless an earlier try has. */
export async function recordReviewDecision(
  {
    decisions,
    decisionReviews,
  }: { decisions: Pick<DecisionStore, 'add'>; decisionReviews: Pick<DecisionReviewStore, 'change'> },
  { id, title, taskId, decision, decisionId, synthesis }: ReviewRecord,
): Promise<ReviewRecord | undefined> {
  if (decision && decisionId !== undefined && synthesis) {
    const { text, by, at } = synthesis;
    await decisions
      .add({
        ...{
          id: decisionId,
          decision: text,
          reasoning: `Synthesis of the decision review ${id}: ${title}`,
          evidence: [id],
        },
        ...{ ...decision, assumptions: [], taskId, ...compact({ agent: agentOf(by) }) },
        ...{ createdAt: at, updatedAt: at, revision: 1 },
      })
      .catch((error: unknown) => {
        if (!(error instanceof DuplicateKeyError)) {
          throw error;
        }
      });
  }
  return decisionReviews.change(id, (current) => {
    const { work, ...rest } = current;
    return work === 'decide' ? rest : current;
  });
}
