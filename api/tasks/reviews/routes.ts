import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { lineCommentsSent } from '../../../contracts/tasks/line-comment';
import { reviewAcceptance, reviewSendBack, type ReviewStatus, reviewStatus } from '../../../contracts/tasks/review';
import { openReviewOf } from '../../../domain/review/open-review';
import { defaultDeliveryOf, needsReview } from '../../../domain/review/requirement';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { WorkflowContext } from '../../context';
import { sendLineComments } from '../line-comments/send';
import { accept } from './accept';

const tag = 'reviews';
const path = '/tasks/:taskId/review';
const params = z.strictObject({ taskId });

/** The review of a run's result: what waits for it, and its acceptance. */
export function reviewRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'get',
      path,
      operationId: 'getReview',
      summary: 'Read the review of the last result of a task, and the decisions before it',
      tag,
      permission: 'task:read',
      params,
      response: reviewStatus,
      errors: [404, 409],
    },
    ({ params: { taskId: id } }) => statusOf(context, id),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/accept`,
      operationId: 'acceptReview',
      summary: 'Accept the result of a run: merge it and complete the task, or open its pull request',
      tag,
      // Not task:write: the agent whose result it is may have that.
      permission: 'agent:write',
      params,
      body: reviewAcceptance,
      response: reviewStatus,
      errors: [403, 404, 409, 503],
    },
    async ({ params: { taskId: id }, body, auth }) => {
      await accept(context, { taskId: id, body, auth });
      return statusOf(context, id);
    },
  );

  routes.add(
    {
      method: 'post',
      idempotency: 'own',
      path: `${path}/send-back`,
      operationId: 'sendBackReview',
      localAgent: true,
      summary: 'Send the result of a run back to its agent, with a message and open comments on lines',
      tag,
      permission: 'agent:write',
      params,
      body: reviewSendBack,
      response: lineCommentsSent,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params: { taskId: id }, body: { attemptId, ...rest }, auth, header }) =>
      sendLineComments(context, id, {
        request: { ...rest, sourceAttemptId: attemptId },
        caller: { actor: auth.actor, workspaceId: auth.workspaceId, headerKey: presentedIdempotencyKey(header) },
        review: { assertOpen: () => assertPending(context, { taskId: id, attemptId }) },
      }),
  );
}

async function statusOf(
  { board, reviews, settings }: Pick<WorkflowContext, 'board' | 'reviews' | 'settings'>,
  id: string,
): Promise<ReviewStatus> {
  const found = await board.get(id);
  assertFound(found, 'task', id);
  const [{ agents }, decisions] = await Promise.all([settings.current(), reviews.ofTask(id)]);
  const { task } = found;
  return {
    taskId: id,
    required: needsReview(task, agents),
    delivery: defaultDeliveryOf(task, agents),
    ...compact({ review: task.review }),
    decisions,
  };
}

/** @throws AppError 404, 409 while it is accepted or cannot be decided */
async function assertPending(
  { board }: Pick<WorkflowContext, 'board'>,
  { taskId: id, attemptId }: { taskId: string; attemptId: string },
): Promise<void> {
  const found = await board.get(id);
  assertFound(found, 'task', id);
  const review = openReviewOf(found.task, { location: found.location, attemptId });
  if (review.state === 'accepting') {
    const message = 'The result is being accepted; wait for the outcome.';
    throw conflict(message, { taskId: id, attemptId, review }, 'REVIEW_ACCEPTING');
  }
}
