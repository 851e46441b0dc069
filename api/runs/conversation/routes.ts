import { conversationRequest, forkRequest, freshConversationRequest } from '../../../contracts/runs/conversation';
import { launchResponse } from '../../../contracts/runs/launch/launch';
import { presentedIdempotencyKey } from '../../../platform/http/limits/idempotency';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { taskParams } from '../attempts/parameters';
import { launchRun } from '../launch/launch';
import { continueConversation } from './continue';

/** New attempts with a message, which continue the session of an earlier one or begin one. */
export function conversationRoutes(routes: Routes, context: WorkflowContext): void {
  const common = {
    method: 'post' as const,
    idempotency: 'own' as const,
    tag: 'runs',
    permission: 'agent:write',
    localAgent: true as const,
    params: taskParams,
    response: launchResponse,
    status: 201 as const,
    errors: [404, 409, 503],
  };
  const edges = [
    ['resume', 'resumeConversation', 'Resume the session of an ended attempt', conversationRequest],
    [
      'follow-up',
      'followUpConversation',
      'Follow up an ended attempt with a message in its session',
      conversationRequest,
    ],
    ['fork', 'forkConversation', 'Fork a session at a turn of an ended attempt', forkRequest],
  ] as const;
  for (const [edge, operationId, summary, body] of edges) {
    routes.add(
      { ...common, path: `/agents/:taskId/conversation/${edge}`, operationId, summary, body },
      ({ params, body: asked, auth, header }) =>
        continueConversation(context, params.taskId, {
          edge,
          request: asked,
          caller: {
            actor: auth.actor,
            workspaceId: auth.workspaceId,
            headerKey: presentedIdempotencyKey(header),
          },
        }),
    );
  }

  routes.add(
    {
      ...common,
      path: '/agents/:taskId/conversation/continue',
      operationId: 'continueConversation',
      summary: 'Continue an ended attempt for a watcher, if its policy allows it',
      body: conversationRequest,
    },
    ({ params, body: asked, auth, header }) =>
      continueConversation(context, params.taskId, {
        edge: 'follow-up',
        request: asked,
        caller: { actor: auth.actor, workspaceId: auth.workspaceId, headerKey: presentedIdempotencyKey(header) },
        byWatcher: true,
      }),
  );

  routes.add(
    {
      ...common,
      path: '/agents/:taskId/conversation/fresh',
      operationId: 'startFreshConversation',
      summary: 'Start a run with a message in a session of its own',
      body: freshConversationRequest,
    },
    ({ params, body: { message, ...body }, auth, header }) =>
      launchRun(context, params.taskId, {
        body,
        caller: { actor: auth.actor, workspaceId: auth.workspaceId, headerKey: presentedIdempotencyKey(header) },
        from: { conversation: { edge: 'start', message, continuation: () => Promise.resolve(undefined) } },
      }),
  );
}
