import { z } from 'zod';
import { agentConfig, agentConfigAnswer, agentConfigList, defaultAgent } from '../../contracts/agent-config';
import { revision } from '../../contracts/common';
import type { HttpContext } from '../../platform/http/context';
import { entityTag, expectedRevision, statedRevisions } from '../../platform/http/precondition';
import type { Routes } from '../../platform/http/routes';
import { parseOrRefuse } from '../../platform/http/validation';
import type { AgentConfiguration } from '../../stores/agent-config-store';
import type { ApiContext } from '../context';
import { refuseCredentials } from './credentials';

const tag = 'config';

/** The list as an object, or, as existing clients send it, as a bare array. */
const agentsUpdate = z.union([
  agentConfigList.safeExtend({ expectedRevision: revision.or(z.literal(0)).optional() }),
  z.array(agentConfig).max(100),
]);

function answer(ctx: HttpContext, configuration: AgentConfiguration): AgentConfiguration {
  ctx.set('ETag', entityTag({ type: 'settings', id: 'agents', revision: configuration.revision }));
  ctx.set('X-Resource-Revision', String(configuration.revision));
  return configuration;
}

/** The agents that may be launched, and the one that is when nobody says which. */
export function agentConfigRoutes(routes: Routes, { agents }: Pick<ApiContext, 'agents'>): void {
  routes.add(
    {
      method: 'get',
      path: '/config/agents',
      operationId: 'getAgents',
      summary: 'Read the configured agents and the default one',
      tag,
      permission: 'settings:read',
      response: agentConfigAnswer,
    },
    async (_input, ctx) => answer(ctx, await agents.read()),
  );

  routes.add(
    {
      method: 'put',
      path: '/config/agents',
      operationId: 'replaceAgents',
      summary: 'Replace the configured agents',
      tag,
      permission: 'settings:write',
      body: agentsUpdate,
      response: agentConfigAnswer,
      errors: [409],
      audit: (_request, { agents }) => ({
        action: 'agents.update',
        details: { agents: agents.map(({ type }) => type) },
      }),
    },
    async ({ body, header }, ctx) => {
      refuseCredentials(body);
      const { agents: list, expectedRevision: bodyRevision } = Array.isArray(body)
        ? { ...parseOrRefuse(agentConfigList, { agents: body }), expectedRevision: undefined }
        : body;
      const stated = statedRevisions('settings', 'agents', { header, bodyRevision });
      const expected = await expectedRevision(stated, async () => (await agents.read()).revision);
      return answer(ctx, await agents.replace(list, expected));
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/config/default-agent',
      operationId: 'setDefaultAgent',
      summary: 'Choose the agent of launches that name none; null takes the first enabled one',
      tag,
      permission: 'settings:write',
      body: defaultAgent,
      response: agentConfigAnswer,
      errors: [409],
      audit: ({ body }) => ({ action: 'default-agent.update', details: body }),
    },
    async ({ body }, ctx) => answer(ctx, await agents.setDefault(body.agent)),
  );
}
