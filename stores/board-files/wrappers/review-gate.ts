import type { Features } from '../../../contracts/settings/settings';
import type { Task } from '../../../contracts/tasks/task';
import { namePullRequest } from '../../../domain/review/open-review';
import { needsReview } from '../../../domain/review/requirement';
import { conflict } from '../../../platform/errors/app-error';
import type { TaskChange } from '../types';

/**
 * The same change, refused when it would complete a task past the review of its run: while the review is open or its pull request
 * is not merged, and while a run is active whose success needs one. An acceptance closes the review with the same change that completes the task.
 *
 * @throws AppError 409 `REVIEW_OPEN`, `REVIEW_AWAITING_MERGE`, `REVIEW_AWAITED` from the change
 */
export const reviewedChange =
  (change: TaskChange, settings: Pick<Features['agents'], 'requireReview'>): TaskChange =>
  (current, location) => {
    const fields = change(current, location);
    const after = { ...current, ...fields };
    if (after.status === 'done' && current.status !== 'done') {
      assertReviewed(current, after, settings);
    }
    return fields;
  };

function assertReviewed(current: Task, after: Task, settings: Pick<Features['agents'], 'requireReview'>): void {
  const { id: taskId, review, attempt } = after;
  if (review?.state === 'awaiting-merge') {
    throw conflict(
      `The result was accepted and ${namePullRequest(review)} waits to be merged: merge it at the forge and read it with POST ` +
        `/api/github/pr/${taskId}/refresh, or accept with {"delivery": "none"} to complete the task without it.`,
      { resourceType: 'task', resourceId: taskId, review },
      'REVIEW_AWAITING_MERGE',
    );
  }
  if (review?.state === 'pending' || review?.state === 'accepting') {
    throw conflict(
      `The result of ${review.attemptId ?? 'its run'} waits for its review: accept it with POST /api/tasks/${taskId}/review/accept ` +
        '(with {"delivery": "none"} to complete the task without a merge), or send it back.',
      { resourceType: 'task', resourceId: taskId, review },
      'REVIEW_OPEN',
    );
  }
  const isActive = attempt?.status === 'pending' || attempt?.status === 'running';
  if (isActive && [current, after].some((version) => needsReview(version, settings))) {
    throw conflict(
      `The run ${attempt.id} is active, and its success needs a review; wait for its end, or stop it first.`,
      { resourceType: 'task', resourceId: taskId, attempt },
      'REVIEW_AWAITED',
    );
  }
}
