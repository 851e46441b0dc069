import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { lineCommentSend, lineCommentsSent } from '../../../contracts/tasks/line-comment';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { sendLineComments } from './send';

/** The launch that sends comments on lines to an agent. */
export function lineCommentSendRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'post',
      idempotency: 'own',
      path: '/diff/:taskId/comments/send',
      operationId: 'sendLineComments',
      localAgent: true,
      summary: 'Send open comments on lines to the agent of an ended attempt, as a follow-up',
      tag: 'line-comments',
      permission: 'agent:write',
      params: z.strictObject({ taskId }),
      body: lineCommentSend,
      response: lineCommentsSent,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth, header }) =>
      sendLineComments(context, params.taskId, {
        request: body,
        caller: {
          actor: auth.actor,
          workspaceId: auth.workspaceId,
          headerKey: presentedIdempotencyKey(header),
        },
      }),
  );
}
