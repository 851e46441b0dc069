import type { StoredPullRequest } from '../../contracts/integrations/pull-request';
import type { Refusal } from '../../contracts/refusal';
import type { TaskReview } from '../../contracts/tasks/review';
import type { Task, TaskLocation } from '../../contracts/tasks/task';
import { refusal, RefusedError } from '../../domain/refusal';
import { statusEffects } from '../../domain/status-effects';
import type { Log } from '../../platform/log/log';
import type { Board } from '../../stores/board-files/types';
import type { Stores } from '../../stores/open-stores';
import type { UnfinishedAcceptance } from '../../stores/tasks/review-store';
import { type DecisionDependencies, isAcceptedBy, isAwaitedBy, recordDecision, refusalOf } from './decision';
import { reopened } from './reopen';

export interface AwaitedMergeDependencies extends DecisionDependencies, Pick<Stores, 'pullRequests'> {
  board: Pick<Board, 'get' | 'inArchive' | 'update'>;
  log: Log;
}

/** Who closed a pull request is known to its forge. */
const forgeActor = 'system:forge';

/**
 * Settles the accepted review of a task that waits for its pull request, by what is stored of that: merged, it completes the task
 * as an acceptance does; closed, it opens the review again. Called by every activity that stores the state of a pull request, once or more:
 * each change is made once. A task whose file cannot be read is settled by the reconciliation once it can.
 *
 * @returns whether anything was changed
 */
export async function settleAwaitedMerge(deps: AwaitedMergeDependencies, taskId: string): Promise<boolean> {
  let changed = false;
  for (const acceptance of await deps.reviews.unfinished.ofTask(taskId)) {
    if (acceptance.state === 'awaiting-merge') {
      try {
        changed = (await settle(deps, acceptance)) || changed;
      } catch (error) {
        const { code, message } = refusalOf(error);
        deps.log.warn({ taskId, code }, `accepted review not settled: ${message}`);
      }
    }
  }
  return changed;
}

/** Whether a task is deleted and can be restored, with the review that it has. */
export const isRestorable = ({ board }: Pick<AwaitedMergeDependencies, 'board'>, taskId: string): boolean =>
  board.inArchive().some(({ id }) => id === taskId);

async function settle(deps: AwaitedMergeDependencies, acceptance: UnfinishedAcceptance): Promise<boolean> {
  const { taskId, accepted } = acceptance;
  const found = await deps.board.get(taskId);
  if (!found && isRestorable(deps, taskId)) {
    return false;
  }
  const { review } = found?.task ?? {};
  const { pull } = (await deps.pullRequests.get(taskId)) ?? {};
  if (!review || !isAwaitedBy(review, accepted)) {
    // Settled by an earlier try, or another decision or run came in between.
    await end(deps, acceptance, review);
    return false;
  }
  switch (pull?.state) {
    case 'merged':
      return complete(deps, acceptance, pull);
    case 'closed':
      return returnClosed(deps, acceptance, pull);
    default:
      return false;
  }
}

/** A pull request as a review names it. */
export const namedPullRequest = ({ number, url, baseBranch }: StoredPullRequest) => ({ number, url, baseBranch });

/** Completes the task through every gate that an acceptance passes; what refuses that is shown on the review. */
async function complete(
  deps: AwaitedMergeDependencies,
  acceptance: UnfinishedAcceptance,
  pull: StoredPullRequest,
): Promise<boolean> {
  const { taskId, accepted } = acceptance;
  const change = (task: Task, location: TaskLocation): Partial<Task> => {
    const { problem: _problem, ...review } = task.review ?? {};
    if (!isAwaitedBy(task.review, accepted)) {
      return {};
    }
    assertUnmoved(task, location);
    assertMergedIntoBase(task, pull);
    const pullRequest = namedPullRequest(pull);
    return { status: 'done', ...statusEffects('done', task), review: { ...review, state: 'accepted', pullRequest } };
  };
  try {
    const { review } = await deps.board.update(taskId, change, { actor: accepted.actor });
    await end(deps, acceptance, review);
    return true;
  } catch (error) {
    return showProblem(deps, acceptance, refusalOf(error));
  }
}

/** @throws RefusedError when the task was moved since its result was accepted: where to is not for a merge to decide */
function assertUnmoved({ id: taskId, status }: Task, location: TaskLocation): void {
  if (location !== 'active' || status !== 'in-progress') {
    const message = `The pull request was merged, and the task is in ${location === 'active' ? status : `the ${location}`}; set it to in-progress again to have it completed.`;
    throw new RefusedError(refusal('REVIEW_TASK_MOVED', message, { taskId, location, status }));
  }
}

/** @throws RefusedError when it was merged into another branch than the one of the acceptance: any caller that changes tasks names one */
function assertMergedIntoBase({ id: taskId, review }: Task, { number, url, baseBranch }: StoredPullRequest): void {
  const accepted = review?.pullRequest?.baseBranch;
  if (accepted !== baseBranch) {
    const message = `Pull request ${number} (${url}) was merged into ${baseBranch}, and was accepted for ${accepted ?? 'another branch'}; accept the result again.`;
    throw new RefusedError(refusal('REVIEW_OTHER_BASE', message, { taskId, baseBranch, accepted }));
  }
}

/** Shows why a merged result does not complete its task; it is tried again with the next reading and by the reconciliation. */
async function showProblem(
  deps: AwaitedMergeDependencies,
  { taskId, accepted }: UnfinishedAcceptance,
  { code, message }: Refusal,
): Promise<boolean> {
  let changed = false;
  const change = ({ review }: Task): Partial<Task> => {
    const isShown = review?.problem?.code === code && review.problem.message === message;
    changed = isAwaitedBy(review, accepted) && !isShown;
    return changed ? { review: { ...review, problem: { code, message, at: deps.now().toISOString() } } } : {};
  };
  await tolerated(deps, taskId, () => deps.board.update(taskId, change, { actor: forgeActor }));
  return changed;
}

/** Opens the review again: its pull request was closed without a merge. */
async function returnClosed(
  deps: AwaitedMergeDependencies,
  acceptance: UnfinishedAcceptance,
  { number, url }: StoredPullRequest,
): Promise<boolean> {
  const { taskId, accepted } = acceptance;
  const code = 'REVIEW_PULL_REQUEST_CLOSED';
  const message = `Pull request ${number} (${url}) was closed without a merge; accept the result again, which makes a new one, or send it back.`;
  const change = ({ review }: Task): Partial<Task> =>
    review && isAwaitedBy(review, accepted) ? { review: reopened(review, { code, message }, deps.now()) } : {};
  const isReturned = await tolerated(deps, taskId, () => deps.board.update(taskId, change, { actor: forgeActor }));
  if (isReturned) {
    await end(deps, acceptance, { state: 'pending', problem: { code, message, at: deps.now().toISOString() } });
  }
  return isReturned;
}

/** Whether a task was changed; one that is gone, unreadable or in the archive is not. */
async function tolerated(
  { log }: Pick<AwaitedMergeDependencies, 'log'>,
  taskId: string,
  update: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await update();
    return true;
  } catch (error) {
    const { code, message } = refusalOf(error);
    log.warn({ taskId, code }, `state of a pull request not written on the review: ${message}`);
    return false;
  }
}

/** Records how an acceptance that waited for its pull request ended, once, and forgets it. */
async function end(
  deps: AwaitedMergeDependencies,
  { _id: decisionId, taskId, accepted }: UnfinishedAcceptance,
  review: TaskReview | undefined,
): Promise<void> {
  const { attemptId } = accepted;
  if (isAcceptedBy(review, accepted)) {
    await deps.audit.record({
      action: 'review.merged',
      actor: accepted.actor,
      resource: taskId,
      details: { attemptId, decisionId, pullRequest: review?.pullRequest?.url },
      once: `review/${decisionId}/merged`,
    });
  }
  if (review?.problem?.code === 'REVIEW_PULL_REQUEST_CLOSED') {
    const { code, message } = review.problem;
    await recordDecision(
      deps,
      { decisionId: `${decisionId}-closed`, taskId, attemptId, review: { decidedBy: forgeActor } },
      { outcome: 'returned', problem: { code, message } },
    );
  }
  await deps.reviews.unfinished.end(decisionId);
}
