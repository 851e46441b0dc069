import type {
  AnswerKind,
  MissingAnswer,
  ReviewAnswer,
  ReviewFinalization,
} from '../../contracts/governance/decision-review';
import { compact } from '../../platform/json/compact';
import { refusal, RefusedError } from '../refusal';
import {
  advanced,
  answerOf,
  drafterOf,
  isComplete,
  isModel,
  isOpen,
  kindOf,
  missingOf,
  type ReviewRecord,
} from './record';

/** Who does something, when, and by which request: the same for one that is repeated. */
export interface By {
  by: string;
  at: string;
  requestId: string;
}

/** The state of a review, for the details of a refusal. */
const current = (review: ReviewRecord) => ({
  ...{ reviewId: review.id, taskId: review.taskId, state: review.state, round: review.round, rounds: review.rounds },
  ...{ missing: missingOf(review), revision: review.revision },
});

const refuse = (code: string, message: string, review: ReviewRecord): RefusedError =>
  new RefusedError(refusal(code, message, current(review)));

function assertOpen(review: ReviewRecord): void {
  if (!isOpen(review)) {
    throw refuse('DECISION_REVIEW_OVER', `The review is ${review.state}: it takes nothing any more.`, review);
  }
}

/** What is submitted for a participant. */
interface Submission {
  participantId: string;
  kind: AnswerKind;
  round?: number | undefined;
}

/**
 * Refuses an answer that the review does not wait for, unless it is the one that is counted already.
 *
 * @param id of the answer
 * @returns the round that it is for
 * @throws RefusedError
 */
export function assertAwaited(review: ReviewRecord, { participantId, kind, round }: Submission, id: string): number {
  const counted = review.answers.find((one) => one.id === id);
  if (counted) {
    return counted.round;
  }
  assertOpen(review);
  const participant = review.participants.find((one) => one.id === participantId);
  if (!participant) {
    throw new RefusedError(
      refusal('VALIDATION_ERROR', 'Validation failed', {
        issues: [
          { path: 'participantId', message: `is none of ${review.participants.map((one) => one.id).join(', ')}` },
        ],
      }),
    );
  }
  if (isModel(participant)) {
    throw refuse('DECISION_REVIEW_MODEL', `${participantId} is a model, which the board asks itself.`, review);
  }
  const wanted = kindOf(review);
  if (kind !== wanted || (round !== undefined && round !== review.round)) {
    const which = round === undefined ? '' : ` of round ${round}`;
    throw refuse(
      'DECISION_REVIEW_OUT_OF_TURN',
      `The review takes no ${kind}${which} now: it waits for the ${wanted}s of round ${review.round}.`,
      review,
    );
  }
  if (answerOf(review, { participantId, kind, round: review.round })) {
    throw refuse(
      'DECISION_REVIEW_ANSWERED',
      `${participantId} has given its ${kind} of round ${review.round}.`,
      review,
    );
  }
  return review.round;
}

/** The review with an answer; the same one when it has that answer already. */
export function withAnswer(review: ReviewRecord, answer: ReviewAnswer): ReviewRecord {
  return answerOf(review, answer) || !isOpen(review)
    ? review
    : advanced({ ...review, answers: [...review.answers, answer], updatedAt: answer.at });
}

/** The review without a participant that cannot answer any more. */
export function withFailure(
  review: ReviewRecord,
  question: MissingAnswer,
  failure: { reason: string; at: string },
): ReviewRecord {
  if (!isOpen(review) || answerOf(review, question)) {
    return review;
  }
  const { participantId, kind, round } = question;
  const participants = review.participants.map((one) =>
    one.id === participantId && one.status === 'active'
      ? { ...one, status: 'failed' as const, failure: { ...failure, kind, round } }
      : one,
  );
  return advanced({ ...review, participants, updatedAt: failure.at });
}

/** The review with a synthesis that a model proposes, or with why there is none. */
export function withDraft(
  review: ReviewRecord,
  draft: Pick<ReviewRecord, 'draft' | 'draftFailure'>,
  at: string,
): ReviewRecord {
  return isComplete(review) && review.draft === undefined ? advanced({ ...review, ...draft, updatedAt: at }) : review;
}

/** The finalized review; as it is when the same request has finalized it. @param decisionId of the decision that it becomes, if one is to be recorded */
export function finalized(
  review: ReviewRecord,
  { synthesis, decision }: ReviewFinalization,
  { by, at, requestId, decisionId }: By & { decisionId: string },
): ReviewRecord {
  if (review.endedBy === requestId) {
    return review;
  }
  assertOpen(review);
  if (!isComplete(review)) {
    throw refuse(
      'DECISION_REVIEW_INCOMPLETE',
      'The last round of the review is not complete: answers are missing.',
      review,
    );
  }
  if (!review.answers.some(({ kind }) => kind === 'response')) {
    throw refuse('DECISION_REVIEW_EMPTY', 'No participant has responded: there is nothing to synthesize.', review);
  }
  const text = synthesis ?? review.draft?.text;
  if (text === undefined) {
    const drafted =
      drafterOf(review) && review.draftFailure === undefined
        ? 'the draft of a model is under way'
        : 'no model drafts one';
    throw new RefusedError(
      refusal('VALIDATION_ERROR', 'Validation failed', {
        issues: [{ path: 'synthesis', message: `is required: ${drafted}` }],
      }),
    );
  }
  const { work: _work, ...rest } = review;
  const recorded = decision && { decision: { ...compact(decision) }, decisionId, work: 'decide' as const };
  return { ...rest, ...recorded, state: 'synthesized', synthesis: { text, by, at }, endedBy: requestId, updatedAt: at };
}

/** The canceled review; as it is when the same request has canceled it. */
export function canceled(
  review: ReviewRecord,
  { by, at, requestId, reason }: By & { reason?: string | undefined },
): ReviewRecord {
  if (review.endedBy === requestId) {
    return review;
  }
  assertOpen(review);
  const { work: _work, ...rest } = review;
  return {
    ...rest,
    state: 'canceled',
    canceled: { by, at, ...compact({ reason }) },
    endedBy: requestId,
    updatedAt: at,
  };
}
