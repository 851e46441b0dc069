import { z } from 'zod';
import { attemptId, taskId } from '../../../contracts/common';
import { toolCall, toolCallRequest } from '../../../contracts/integrations/tool-call';
import { toolCatalog } from '../../../contracts/integrations/tool-catalog';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { attemptOfTask } from '../../runs/attempts/attempt';
import { callTool } from './call';
import { catalogOf } from './call-checks';

const tag = 'tool-servers';

/** The catalogs of attempts, and calls of their tools (specification 2, Tool control plane). */
export function toolCallRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'get',
      path: '/tool-servers/runs/:taskId/:attemptId/catalog',
      operationId: 'getToolCatalog',
      summary: 'Read the immutable tool catalog of an attempt',
      tag,
      permission: 'agent:read',
      params: z.object({ taskId, attemptId }),
      response: toolCatalog,
    },
    async ({ params }) => {
      const record = await attemptOfTask(context, params.taskId, params.attemptId);
      return catalogOf(context, record._id);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/tool-servers/call',
      operationId: 'callTool',
      summary: 'Call a tool of the catalog of a running attempt',
      tag,
      permission: 'agent:write',
      localAgent: true,
      idempotency: 'own',
      body: toolCallRequest,
      response: toolCall,
      errors: [404, 409, 503],
      audit: ({ body }, { id, state, replayed }) =>
        replayed
          ? undefined
          : {
              action: 'tool.call',
              resource: `${body.taskId}/${body.attemptId}`,
              details: { callId: id, serverId: body.serverId, tool: body.tool, state },
              once: id,
            },
    },
    async ({ body: { taskId: task, attemptId: attempt, ...call }, auth }) =>
      callTool(context, await attemptOfTask(context, task, attempt), { ...call, actor: auth.actor }),
  );
}
