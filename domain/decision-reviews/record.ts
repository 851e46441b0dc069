import type {
  AnswerKind,
  DecisionReview,
  MissingAnswer,
  ReviewAnswer,
  ReviewParticipant,
} from '../../contracts/governance/decision-review';

/** What there is to do for a review that no caller does. */
export type ReviewWork = 'ask' | 'draft' | 'decide';

/** What becomes the decision of a task, once it is recorded. */
export interface ReviewDecision {
  confidence: number;
  riskScore?: number | undefined;
}

/** A review as it is stored: which answers there are, whose texts are beside it. */
export interface ReviewRecord extends Omit<DecisionReview, 'answers' | 'missing'> {
  answers: ReviewAnswer[];
  decision?: ReviewDecision;
  /** The request that has finalized or canceled it. */
  endedBy?: string;
  /** Absent when the review waits for callers, or is over. */
  work?: ReviewWork;
}

export const isOpen = ({ state }: Pick<ReviewRecord, 'state'>): boolean =>
  state === 'collecting' || state === 'critiquing';

export const isModel = ({ model }: Pick<ReviewParticipant, 'model'>): boolean => model !== undefined;

/** The kind of answer that the review collects. */
export const kindOf = ({ state }: Pick<ReviewRecord, 'state'>): AnswerKind =>
  state === 'collecting' ? 'response' : 'critique';

type Answered = Pick<ReviewRecord, 'answers'>;

/** The answer of a participant in a round, if there is one. */
export const answerOf = (
  { answers }: Answered,
  { participantId, kind, round }: MissingAnswer,
): ReviewAnswer | undefined =>
  answers.find((one) => one.participantId === participantId && one.kind === kind && one.round === round);

/** The answers that the review waits for before it goes on; none when it is over, or waits to be finalized. */
export function missingOf(review: Pick<ReviewRecord, 'state' | 'round' | 'participants' | 'answers'>): MissingAnswer[] {
  if (!isOpen(review)) {
    return [];
  }
  const kind = kindOf(review);
  return review.participants
    .filter(({ status }) => status === 'active')
    .map(({ id }) => ({ participantId: id, kind, round: review.round }))
    .filter((one) => !answerOf(review, one));
}

/** Whether every round is complete. */
export const isComplete = (review: ReviewRecord): boolean =>
  review.state === 'critiquing' && review.round === review.rounds && missingOf(review).length === 0;

/** What a model is to be asked now. */
export const questionsOf = (review: ReviewRecord): MissingAnswer[] =>
  missingOf(review).filter(({ participantId }) => {
    const asked = review.participants.find(({ id }) => id === participantId);
    return asked !== undefined && isModel(asked);
  });

/** The model that drafts the synthesis: that of the first participant which is still one. */
export const drafterOf = ({ participants }: Pick<ReviewRecord, 'participants'>): ReviewParticipant | undefined =>
  participants.find((one) => isModel(one) && one.status === 'active');

function workOf(review: ReviewRecord): ReviewWork | undefined {
  if (questionsOf(review).length > 0) {
    return 'ask';
  }
  const isDrafted = review.draft !== undefined || review.draftFailure !== undefined;
  return isComplete(review) && !isDrafted && review.answers.length > 0 && drafterOf(review) ? 'draft' : undefined;
}

/** The review in the step that follows from its answers, with the work that this step is for the board. */
export function advanced(review: ReviewRecord): ReviewRecord {
  let next = review;
  while (isOpen(next) && missingOf(next).length === 0 && !isComplete(next)) {
    next =
      next.state === 'collecting'
        ? { ...next, state: 'critiquing' }
        : { ...next, state: 'collecting', round: next.round + 1 };
  }
  const { work: _work, ...rest } = next;
  const work = workOf(next);
  return work === undefined ? rest : { ...rest, work };
}
