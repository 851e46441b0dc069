import { z } from 'zod';
import { revision } from '../../../contracts/common';
import {
  agentConfig,
  agentConfigList,
  agentConfigResponse,
  defaultAgent,
} from '../../../contracts/settings/agent-config';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { parseOrRefuse } from '../../../platform/http/routing/validation';
import type { AgentConfiguration } from '../../../stores/settings/agent-config-store';
import type { ApiContext } from '../../context';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import { refuseRelativeCommands } from './commands';
import { refuseCredentials } from './credentials';

const tag = 'config';
const setting = settingResource('agents');

/** The list as an object, or, as existing clients send it, as a bare array. */
const agentsUpdate = z.union([
  agentConfigList.safeExtend({ expectedRevision: revision.or(z.literal(0)).optional() }),
  z.array(agentConfig).max(100),
]);

function answer(ctx: HttpContext, configuration: AgentConfiguration): AgentConfiguration {
  setRevision(ctx, { ...setting, revision: configuration.revision });
  return configuration;
}

/** The agents that may be launched, and the default one. */
export function agentConfigRoutes(routes: Routes, { agents }: Pick<ApiContext, 'agents'>): void {
  routes.add(
    {
      method: 'get',
      path: '/config/agents',
      operationId: 'getAgents',
      summary: 'Read the configured agents and the default agent',
      tag,
      permission: 'settings:read',
      response: agentConfigResponse,
    },
    async (_input, ctx) => answer(ctx, await agents.read()),
  );

  routes.add(
    {
      method: 'put',
      path: '/config/agents',
      operationId: 'replaceAgents',
      onHosts: true,
      summary: 'Replace the configured agents',
      tag,
      permission: 'settings:write',
      body: agentsUpdate,
      response: agentConfigResponse,
      errors: [409],
      audit: (_request, { agents }) => ({
        action: 'agents.update',
        details: { agents: agents.map(({ type }) => type) },
      }),
    },
    async ({ body, header }, ctx) => {
      refuseCredentials(body);
      refuseRelativeCommands(body);
      const { agents: list, expectedRevision: bodyRevision } = Array.isArray(body)
        ? { ...parseOrRefuse(agentConfigList, { agents: body }), expectedRevision: undefined }
        : body;
      const expected = await statedRevision({ ...setting, current: () => agents.read() }, { header, bodyRevision });
      return answer(ctx, await agents.replace(list, expected));
    },
  );

  routes.add(
    {
      method: 'put',
      path: '/config/default-agent',
      operationId: 'setDefaultAgent',
      summary: 'Set the default agent; null selects the first enabled one',
      tag,
      permission: 'settings:write',
      body: defaultAgent,
      response: agentConfigResponse,
      errors: [409],
      audit: ({ body }) => ({ action: 'default-agent.update', details: body }),
    },
    async ({ body }, ctx) => answer(ctx, await agents.setDefault(body.agent)),
  );
}
