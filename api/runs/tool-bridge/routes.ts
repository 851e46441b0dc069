import { z } from 'zod';
import { bridgedCall, toolCall } from '../../../contracts/integrations/tool-call';
import { toolCatalog } from '../../../contracts/integrations/tool-catalog';
import { toolsPermission } from '../../../contracts/runs/launch/tool-bridge';
import { routeLimit } from '../../../platform/http/limits/rate-limit';
import { emptyResponse, RawJson } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { callTool } from '../../integrations/tool-servers/call';
import { catalogOf } from '../../integrations/tool-servers/call-checks';
import { bridgedAttempt, requestsInMinute } from './bridged';
import { answerMessage, newSession, sessionHeader } from './mcp';

const common = { tag: 'run-tool-bridge', permission: toolsPermission, credential: 'tool-bridge' as const };

/** The tools of a run for its agent: the handle names the attempt and its catalog, and opens nothing else. */
export function toolBridgeRoutes(routes: Routes, context: WorkflowContext): void {
  const limited = routeLimit(requestsInMinute);

  routes.add(
    {
      ...common,
      method: 'get',
      path: '/run-tool-bridge/catalog',
      operationId: 'getBridgedToolCatalog',
      summary: 'Read the tool catalog of the attempt',
      response: toolCatalog,
      errors: [404],
    },
    async ({ auth }, ctx) => {
      const record = await bridgedAttempt(context, auth);
      limited(ctx, record._id);
      return catalogOf(context, record._id);
    },
  );

  routes.add(
    {
      ...common,
      method: 'post',
      path: '/run-tool-bridge/call',
      operationId: 'callBridgedTool',
      summary: 'Call a tool of the catalog of the attempt',
      idempotency: 'own',
      body: bridgedCall,
      response: toolCall,
      errors: [404, 409, 503],
    },
    async ({ body, auth }, ctx) => {
      const record = await bridgedAttempt(context, auth);
      limited(ctx, record._id);
      return callTool(context, record, { ...body, actor: auth.actor });
    },
  );

  routes.add(
    {
      ...common,
      method: 'post',
      path: '/run-tool-bridge/mcp',
      operationId: 'messageToolBridge',
      summary: 'Send a message of the Model Context Protocol to the tools of the attempt',
      idempotency: 'own',
      rawBody: true,
      response: z.unknown(),
      errors: [404],
    },
    async ({ auth, header, rawBody }, ctx) => {
      const record = await bridgedAttempt(context, auth);
      limited(ctx, record._id);
      const session = header(sessionHeader);
      const answer = await answerMessage(context, record, {
        body: await rawBody(),
        session,
        actor: auth.actor,
      });
      if (answer.initialized) {
        ctx.set(sessionHeader, newSession());
      }
      // A notification has no response.
      if (answer.message === undefined) {
        ctx.status = 202;
        return emptyResponse();
      }
      return new RawJson(Buffer.from(JSON.stringify(answer.message)));
    },
  );
}
