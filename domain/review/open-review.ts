import type { ReviewDelivery, TaskReview } from '../../contracts/tasks/review';
import type { Task, TaskLocation } from '../../contracts/tasks/task';
import { refusal, RefusedError } from '../refusal';

/** A review that can be decided. */
export type OpenReview = TaskReview & Required<Pick<TaskReview, 'state' | 'attemptId'>>;

const openStates: readonly (string | undefined)[] = ['pending', 'accepting', 'awaiting-merge'];

/** Whether a review waits for its decision, or one is being carried out. */
export const isOpen = (review: TaskReview | undefined): review is OpenReview =>
  openStates.includes(review?.state) && review?.attemptId !== undefined;

/** Where a task is, and which attempt a decision is about. */
interface Subject {
  location: TaskLocation;
  attemptId: string;
}

/**
 * The review of a task, if a decision about exactly this attempt is possible now.
 *
 * @throws RefusedError with the state of the task and its review
 */
export function openReviewOf(task: Task, { location, attemptId }: Subject): OpenReview {
  const { id: taskId, review, status, attempt } = task;
  if (location !== 'active') {
    throw refused('REVIEW_TASK_MOVED', `The task is in the ${location}; bring it back to the active board first.`, {
      taskId,
      location,
      status,
    });
  }
  if (review?.state === undefined) {
    throw refused('REVIEW_NOT_OPEN', 'No result of the task waits for a review.', { taskId, status });
  }
  if (review.attemptId !== attemptId || attempt?.id !== attemptId) {
    const message = `The review is about ${review.attemptId ?? 'no attempt'}, and the last attempt is ${attempt?.id ?? 'none'}; look at that one first.`;
    throw refused('REVIEW_OTHER_ATTEMPT', message, { taskId, attemptId, review, lastAttemptId: attempt?.id });
  }
  if (!isOpen(review)) {
    const by = review.decidedBy === undefined ? '' : ` by ${review.decidedBy}`;
    throw refused('REVIEW_CLOSED', `The result was ${review.state}${by} already.`, { taskId, attemptId, review });
  }
  if (status !== 'in-progress') {
    const message = `The task was set to ${status} since its run ended; set it to in-progress again, or leave the review open.`;
    throw refused('REVIEW_TASK_MOVED', message, { taskId, status, review });
  }
  return review;
}

/**
 * The review of a task, if its attempt can be accepted now with this delivery: a pull request that waits to be merged is not made
 * again unless it was merged into another branch, and another delivery may take its place.
 *
 * @throws RefusedError as {@link openReviewOf}, `REVIEW_AWAITING_MERGE`
 */
export function acceptableReviewOf(task: Task, of: Subject & { delivery: ReviewDelivery }): OpenReview {
  const review = openReviewOf(task, of);
  const isMerged = review.problem?.code === 'REVIEW_OTHER_BASE';
  if (review.state === 'awaiting-merge' && of.delivery === 'pull-request' && !isMerged) {
    const message = `The result was accepted; ${namePullRequest(review)} waits to be merged. Accept with {"delivery": "merge"} or {"delivery": "none"} to complete the task without it.`;
    throw refused('REVIEW_AWAITING_MERGE', message, { taskId: task.id, attemptId: of.attemptId, review });
  }
  return review;
}

/** The pull request of an accepted result, in a sentence. */
export const namePullRequest = ({ pullRequest }: TaskReview): string =>
  pullRequest ? `its pull request ${pullRequest.number} (${pullRequest.url})` : 'its pull request';

const refused = (...of: Parameters<typeof refusal>): RefusedError => new RefusedError(refusal(...of));
