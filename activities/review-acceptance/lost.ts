import type { AcceptedReview } from '../../contracts/tasks/review';
import { refusal } from '../../domain/refusal';
import type { UnfinishedAcceptance } from '../../stores/tasks/review-store';
import type { WorkflowStatus } from '../reconcile/activities';
import { isRestorable, settleAwaitedMerge } from './awaited-merge';
import { conclude, type ConclusionDependencies, mergeOf } from './conclude';
import { isAcceptedBy, isAwaitedBy, isDecided, pullRequestOperationIdOf, refusalOf, refusing } from './decision';
import { reopen } from './reopen';

/** The workflows of acceptances, as far as they are inspected and started again. */
export interface AcceptanceWorkflows {
  ofAcceptance(attemptId: string): Promise<WorkflowStatus>;
  /** Whether an operation on the worktree or the pull request of a task is under way. */
  isDelivering(taskId: string): Promise<boolean>;
  /** Starts the workflow of an acceptance unless it runs. */
  adoptAcceptance(accepted: AcceptedReview): Promise<void>;
}

export interface LostAcceptanceDependencies extends ConclusionDependencies {
  acceptanceWorkflows: AcceptanceWorkflows;
}

/**
 * Reconciles the acceptances that are not finished with their workflows. One whose workflow Temporal does not know is started
 * again; one whose workflow was ended before it was done is concluded where its result is delivered, and returned otherwise.
 *
 * @returns how many were inspected and changed
 */
export async function reconcileAcceptances(
  deps: LostAcceptanceDependencies,
  pageSize?: number,
): Promise<{ looked: number; changed: number }> {
  const count = { looked: 0, changed: 0 };
  for await (const acceptance of deps.reviews.unfinished.all(pageSize)) {
    count.looked += 1;
    try {
      count.changed += (await reconcile(deps, acceptance)) ? 1 : 0;
    } catch (error) {
      // One unreadable task does not keep the others from it.
      const { code, message } = refusalOf(error);
      deps.log.warn({ taskId: acceptance.taskId, code }, `acceptance not reconciled: ${message}`);
    }
  }
  return count;
}

async function reconcile(deps: LostAcceptanceDependencies, read: UnfinishedAcceptance): Promise<boolean> {
  const { _id: decisionId, taskId, state, accepted } = read;
  if (state === 'awaiting-merge') {
    return settleAwaitedMerge(deps, taskId);
  }
  const workflowStatus = await deps.acceptanceWorkflows.ofAcceptance(accepted.attemptId);
  // Its workflow may have ended it since it was read.
  if (workflowStatus === 'open' || !(await deps.reviews.unfinished.get(decisionId))) {
    return false;
  }
  const found = await deps.board.get(taskId);
  if (!found && isRestorable(deps, taskId)) {
    return false;
  }
  const { review } = found?.task ?? {};
  if (isAcceptedBy(review, accepted) || isAwaitedBy(review, accepted)) {
    await conclude(deps, accepted);
  } else if (!isDecided(review, accepted)) {
    // It had not begun, or another decision was made.
    await deps.reviews.unfinished.end(decisionId);
    return false;
  } else if (workflowStatus === 'missing') {
    await deps.acceptanceWorkflows.adoptAcceptance(accepted);
  } else if (await deps.acceptanceWorkflows.isDelivering(taskId)) {
    // What the acceptance has begun is brought to its end first.
    return false;
  } else if (await isDelivered(deps, accepted)) {
    await refusing(
      () => conclude(deps, accepted),
      (problem) => reopen(deps, accepted, problem),
    );
  } else {
    const message = 'The acceptance was ended before its result was delivered; accept again, or send it back.';
    await reopen(deps, accepted, refusal('REVIEW_INTERRUPTED', message, { taskId }));
  }
  deps.log.warn({ taskId, attemptId: accepted.attemptId, workflowStatus }, 'acceptance without workflow detected');
  return true;
}

/** Whether the operation of this decision was done. */
async function isDelivered(deps: ConclusionDependencies, accepted: AcceptedReview): Promise<boolean> {
  const { taskId, decisionId, delivery } = accepted;
  if (delivery !== 'pull-request') {
    return (await mergeOf(deps, accepted)) !== undefined;
  }
  const last = (await deps.pullRequests.get(taskId))?.last;
  return last?.id === pullRequestOperationIdOf(decisionId) && last.refused === null;
}
