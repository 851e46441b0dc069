import { createHash } from 'node:crypto';
import type { Refusal } from '../../contracts/refusal';
import type { ReviewDecision, TaskReview } from '../../contracts/tasks/review';
import { refusal, RefusedError } from '../../domain/refusal';
import { AppError } from '../../platform/errors/app-error';
import { compact } from '../../platform/json/compact';
import { isGateRefusal } from '../../stores/board-files/wrappers/transition-refusal';
import type { Stores } from '../../stores/open-stores';
import type { ReviewOutcome } from '../../workflows/review-acceptance/messages';

/** Which acceptance is finished or returned. */
export interface Decision {
  decisionId: string;
  taskId: string;
  attemptId: string;
}

export interface DecisionDependencies extends Pick<Stores, 'reviews'> {
  audit: Pick<Stores['audit'], 'record'>;
  now: () => Date;
}

/** Who decided, where the task no longer shows it. */
export const unknownActor = 'system:review';

type Decided = Pick<Decision, 'decisionId'>;

export const isDecided = (review: TaskReview | undefined, { decisionId }: Decided): boolean =>
  review?.state === 'accepting' && review.decisionId === decisionId;

export const isAcceptedBy = (review: TaskReview | undefined, { decisionId }: Decided): boolean =>
  review?.state === 'accepted' && review.decisionId === decisionId;

export const isAwaitedBy = (review: TaskReview | undefined, { decisionId }: Decided): boolean =>
  review?.state === 'awaiting-merge' && review.decisionId === decisionId;

/** The part of the ids that stand for a decision, however often it is carried out. */
const digestOf = (decisionId: string): string => createHash('sha256').update(decisionId).digest('hex').slice(0, 16);

/** The id of the merge of a decision. */
export const operationIdOf = (decisionId: string): string => `op_${digestOf(decisionId)}`;

/** The id of the operation on the pull request of a decision. */
export const pullRequestOperationIdOf = (decisionId: string): string => `pr_${digestOf(decisionId)}`;

/** Another decision has closed the review in the meantime. */
export function reviewClosed({ taskId, attemptId }: Decision, review: TaskReview | undefined): RefusedError {
  const message = 'Another decision was made in the meantime; read the review again.';
  return new RefusedError(refusal('REVIEW_CLOSED', message, { taskId, attemptId, review }));
}

/** How a decision ended that is in the log: its response was lost. */
export function outcomeOf({ id, outcome, problem, taskId, attemptId }: ReviewDecision): ReviewOutcome {
  if (outcome !== 'returned') {
    return { status: 'accepted', decisionId: id };
  }
  const { code = 'REVIEW_RETURNED', message = 'The acceptance came to nothing.' } = problem ?? {};
  return refusal(code, message, { taskId, attemptId });
}

/** Writes a decision into the logs, once. */
export async function recordDecision(
  { reviews, audit, now }: DecisionDependencies,
  { decisionId, taskId, attemptId, review }: Decision & { /** As the task shows it. */ review: TaskReview | undefined },
  fields: Pick<ReviewDecision, 'outcome'> & Partial<ReviewDecision>,
): Promise<ReviewDecision> {
  const { decidedBy: by = unknownActor, decidedAt: at = now().toISOString() } = review ?? {};
  const recorded = await reviews.record({ id: decisionId, taskId, attemptId, by, at, ...fields });
  const { outcome, problem, delivery, mergedSha, pullRequest } = recorded;
  await audit.record({
    action: `review.${outcome}`,
    actor: recorded.by,
    resource: taskId,
    details: {
      attemptId,
      decisionId,
      ...compact({ delivery, mergedSha, pullRequest: pullRequest?.url, code: problem?.code }),
    },
    once: `review/${recorded.id}`,
  });
  return recorded;
}

/** What a refused change of a task is as a refusal. @throws the error when it is none, or the stores do not respond */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusedError) {
    return error.refusal;
  }
  if (!(error instanceof AppError) || error.status === 503) {
    throw error;
  }
  const { code, message, details } = error;
  if (isGateRefusal(error)) {
    return refusal('TRANSITION_GATES', message, details);
  }
  // The detail names what a person has to do, where the code is the one of every invalid request.
  return refusal(typeof details.code === 'string' ? details.code : code, message, details);
}

/** The result of `work`, or what refuses it as a value; a store that does not respond is tried again. */
export async function refusing<T>(
  work: () => Promise<T>,
  onRefusal: (problem: Refusal) => Promise<Refusal> = (problem) => Promise.resolve(problem),
): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    return onRefusal(refusalOf(error));
  }
}
