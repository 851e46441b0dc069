import type { ReviewAcceptance, ReviewDelivery } from '../../../contracts/tasks/review';
import type { Task } from '../../../contracts/tasks/task';
import { acceptableReviewOf } from '../../../domain/review/open-review';
import { defaultDeliveryOf } from '../../../domain/review/requirement';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import { newRecordId } from '../../../platform/operations/operation';
import type { WorkflowContext } from '../../context';
import { refusalError } from '../../refusal-error';
import { assertMayMerge } from '../../runs/worktrees/may-merge';

type ReviewsContext = Pick<WorkflowContext, 'attempts' | 'board' | 'reviews' | 'settings'>;

interface Accepting {
  taskId: string;
  body: ReviewAcceptance;
  auth: AuthContext;
}

/**
 * Accepts a result, or joins its acceptance.
 *
 * @throws AppError 403 as a merge does, 404, 409 with the state of the review or why it was returned
 */
export async function accept(context: WorkflowContext, { taskId: id, body, auth }: Accepting): Promise<void> {
  const decisionId = newRecordId('review', 16);
  const delivery = await openDelivery(context, { taskId: id, body, decisionId });
  const worktree = delivery === 'merge' ? await context.worktrees.get(id) : undefined;
  const anyBranch = worktree && worktree.state !== 'removed' ? await assertMayMerge(context, id, auth) : {};
  const decision = { ...compact(body), ...anyBranch, delivery, decisionId, taskId: id, actor: auth.actor };
  const outcome = await context.reviewLauncher.accept(decision);
  if (outcome.status === 'refused') {
    throw refusalError(outcome);
  }
  if (outcome.decisionId !== decisionId) {
    throw conflict('Another caller has just accepted the result.', { taskId: id, ...outcome }, 'REVIEW_CLOSED');
  }
}

/**
 * How the result is delivered. Refuses early what the workflow would refuse; a repeated decision is answered by its record.
 *
 * @throws AppError 404, 409
 */
async function openDelivery(
  context: ReviewsContext,
  { taskId: id, body, decisionId }: Omit<Accepting, 'auth'> & { decisionId: string },
): Promise<ReviewDelivery> {
  const found = await context.board.get(id);
  assertFound(found, 'task', id);
  const { task, location } = found;
  const [recorded, unfinished] = await Promise.all([
    context.reviews.get(decisionId),
    context.reviews.unfinished.get(decisionId),
  ]);
  const earlier = unfinished?.accepted.delivery ?? recorded?.delivery;
  if (earlier) {
    return earlier;
  }
  const delivery = await deliveryFor(context, task, body);
  if (!recorded && task.review?.decisionId !== decisionId) {
    acceptableReviewOf(task, { attemptId: body.attemptId, location, delivery });
  }
  return delivery;
}

/** A run without a worktree has nothing that a pull request could be made of unless one is requested. */
async function deliveryFor(
  { attempts, settings }: ReviewsContext,
  task: Task,
  { attemptId, delivery }: ReviewAcceptance,
): Promise<ReviewDelivery> {
  if (delivery) {
    return delivery;
  }
  const preferred = defaultDeliveryOf(task, (await settings.current()).agents);
  const isAmong = preferred === 'merge' || (await attempts.get(attemptId))?.taskEnvelope?.workspace;
  return isAmong ? preferred : 'none';
}
