import type { ReviewDecision, TaskReview } from '../../contracts/tasks/review';
import type { Task } from '../../contracts/tasks/task';
import { refusal, RefusedError } from '../../domain/refusal';
import { statusEffects } from '../../domain/status-effects';
import { compact } from '../../platform/json/compact';
import type { Stores } from '../../stores/open-stores';
import type { ReviewOutcome } from '../../workflows/review-acceptance/messages';
import { type AwaitedMergeDependencies, namedPullRequest, settleAwaitedMerge } from './awaited-merge';
import {
  type Decision,
  isAcceptedBy,
  isAwaitedBy,
  isDecided,
  operationIdOf,
  outcomeOf,
  recordDecision,
  reviewClosed,
  unknownActor,
} from './decision';

export interface ConclusionDependencies extends AwaitedMergeDependencies, Pick<Stores, 'worktrees'> {}

/**
 * Ends an acceptance whose result is delivered, or whose pull request is made.
 *
 * @throws RefusedError, AppError when the task may not be done or another decision was made
 */
export async function conclude(
  deps: ConclusionDependencies,
  { decisionId, taskId, attemptId }: Decision,
): Promise<ReviewOutcome> {
  const decision = { decisionId, taskId, attemptId };
  const acceptance = await deps.reviews.unfinished.get(decisionId);
  return acceptance?.accepted.delivery === 'pull-request' ? awaitMerge(deps, decision) : finish(deps, decision);
}

/** The merge of a decision, where it was done. */
export async function mergeOf(
  { worktrees }: Pick<ConclusionDependencies, 'worktrees'>,
  { taskId, decisionId }: Pick<Decision, 'taskId' | 'decisionId'>,
): Promise<{ mergedSha?: string | undefined } | undefined> {
  const operationId = operationIdOf(decisionId);
  const worktree = await worktrees.get(taskId);
  return worktree?.history.find((entry) => entry.operationId === operationId && entry.result === 'done');
}

async function finish(deps: ConclusionDependencies, decision: Decision): Promise<ReviewOutcome> {
  const { taskId, decisionId } = decision;
  const change = (task: Task): Partial<Task> => {
    if (isAcceptedBy(task.review, decision)) {
      return {};
    }
    assertDecided(task, decision);
    const review: TaskReview = { ...task.review, state: 'accepted', decision: 'approved' };
    return { status: 'done', ...statusEffects('done', task), review };
  };
  const { review = {} } = await deps.board.update(taskId, change, { actor: await deciderOf(deps, taskId) });
  const { mergedSha } = (await mergeOf(deps, decision)) ?? {};
  const { summary, delivery } = review;
  const fields = { outcome: 'accepted' as const, ...compact({ summary, delivery, mergedSha }) };
  const recorded = await recordDecision(deps, { ...decision, review }, fields);
  await deps.reviews.unfinished.end(decisionId);
  return outcomeOf(recorded);
}

/** Shows on the task which pull request is to be merged; one that was merged or closed meanwhile settles the review at once. */
async function awaitMerge(deps: ConclusionDependencies, decision: Decision): Promise<ReviewOutcome> {
  const { taskId, decisionId } = decision;
  const recorded = (await deps.reviews.get(decisionId)) ?? (await recordAwaited(deps, decision));
  await deps.reviews.unfinished.awaitMerge(decisionId);
  await settleAwaitedMerge(deps, taskId);
  return outcomeOf(recorded);
}

async function recordAwaited(deps: ConclusionDependencies, decision: Decision): Promise<ReviewDecision> {
  const { taskId } = decision;
  const { pull } = (await deps.pullRequests.get(taskId)) ?? {};
  if (!pull) {
    throw new Error(`The pull request of ${taskId} is missing from the stores.`);
  }
  const change = (task: Task): Partial<Task> => {
    if (isAwaitedBy(task.review, decision)) {
      return {};
    }
    assertDecided(task, decision);
    const pullRequest = namedPullRequest(pull);
    return { review: { ...task.review, state: 'awaiting-merge', decision: 'approved', pullRequest } };
  };
  const { review = {} } = await deps.board.update(taskId, change, { actor: await deciderOf(deps, taskId) });
  const { summary, delivery, pullRequest } = review;
  const fields = { outcome: 'accepted' as const, ...compact({ summary, delivery, pullRequest }) };
  return recordDecision(deps, { ...decision, review }, fields);
}

/** @throws RefusedError `REVIEW_CLOSED` when another decision has the review */
function assertDecided({ review }: Task, decision: Decision): void {
  if (!isDecided(review, decision)) {
    throw reviewClosed(decision, review);
  }
}

/** Who decided, as the task shows it. @throws RefusedError `NOT_FOUND` when it is gone */
async function deciderOf({ board }: Pick<ConclusionDependencies, 'board'>, taskId: string): Promise<string> {
  const found = await board.get(taskId);
  if (!found) {
    throw new RefusedError(refusal('NOT_FOUND', `No task has the id ${taskId}.`, { taskId }));
  }
  return found.task.review?.decidedBy ?? unknownActor;
}
