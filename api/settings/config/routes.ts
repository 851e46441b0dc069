import { z } from 'zod';
import { agentConfig, agentConfigResponse } from '../../../contracts/settings/agent-config';
import { repository } from '../../../contracts/settings/repository';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { type AgentCheckContext, agentCheckRoutes } from './routes.agent-check';
import { agentPresetRoutes } from './routes.agent-presets';
import { agentSupportRoutes } from './routes.agent-support';
import { agentConfigRoutes } from './routes.agents';
import { profileRoutes } from './routes.profiles';
import { type RepositoryContext, repositoryRoutes } from './routes.repositories';
import { type RepositoryViewContext, repositoryViewRoutes } from './routes.repository-views';

const configuration = z
  .object({
    agents: z.array(agentConfig),
    defaultAgent: agentConfigResponse.shape.defaultAgent,
    repos: z.array(repository),
  })
  .meta({ id: 'Configuration' });

/** What the board is configured with: agents and repositories. */
export function configRoutes(
  routes: Routes,
  context: ApiContext & RepositoryContext & RepositoryViewContext & AgentCheckContext,
): void {
  routes.add(
    {
      method: 'get',
      path: '/config',
      operationId: 'getConfiguration',
      summary: 'Read the configured agents and repositories',
      tag: 'config',
      permission: 'settings:read',
      response: configuration,
    },
    async () => {
      const [{ agents, defaultAgent }, repos] = await Promise.all([context.agents.read(), context.repositories.list()]);
      return { agents, defaultAgent, repos };
    },
  );
  agentConfigRoutes(routes, context);
  agentCheckRoutes(routes, context);
  agentPresetRoutes(routes, context);
  agentSupportRoutes(routes, context);
  repositoryRoutes(routes, context);
  repositoryViewRoutes(routes, context);
  profileRoutes(routes, context);
}
