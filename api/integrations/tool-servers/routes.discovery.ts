import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { toolDiscovery, toolDiscoveryRequest } from '../../../contracts/integrations/tool-server';
import { credentialProblem } from '../../../domain/tool-servers/credential-scopes';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { hostUnavailable, liveHost } from '../../live-host';
import { refusalError } from '../../refusal-error';
import type { WorkflowClients } from '../../workflow-clients';

/** No host can be reached where there is no workflow engine. */
export type DiscoveryContext = Pick<ApiContext, 'toolServers' | 'toolDiscoveries' | 'settings' | 'hosts'> &
  Partial<Pick<WorkflowClients, 'discoverTools'>>;

const purpose = 'start the tool server';

/** Lists the tools of a server: those that are stored of its definition, or those that it lists now on a host. */
export function toolDiscoveryRoutes(
  routes: Routes,
  { toolServers, toolDiscoveries, settings, hosts, discoverTools }: DiscoveryContext,
): void {
  routes.add(
    {
      method: 'post',
      path: '/tool-servers/:id/discover',
      operationId: 'discoverTools',
      summary: 'List the tools of a server that a host discovers, or has discovered for the same definition',
      tag: 'tool-servers',
      permission: 'admin:manage',
      params: z.strictObject({ id: slug }),
      body: toolDiscoveryRequest,
      response: toolDiscovery,
      errors: [404, 409, 503],
      audit: ({ params }, { hostId, state, cached, definitionDigest }) => ({
        action: 'tool-server.discover',
        resource: params.id,
        details: { hostId, state, cached, definitionDigest },
      }),
    },
    async ({ params: { id }, body }) => {
      const definition = await toolServers.definition(id);
      assertFound(definition, 'tool server', id);
      if (!definition.enabled) {
        const details = { serverId: id, remediation: `Enable it with PUT /api/tool-servers/${id}.` };
        throw conflict(`The tool server ${id} is disabled; it is not started.`, details, 'TOOL_SERVER_DISABLED');
      }
      const problem = credentialProblem(definition, (await settings.read()).features.toolServers.credentialScopes);
      if (problem) {
        throw refusalError(problem);
      }
      const hostId = await liveHost(hosts, body.hostId, purpose);
      const stored = body.bypassCache ? undefined : await toolDiscoveries.find(definition.digest, hostId);
      if (stored?.state === 'ready') {
        return { ...stored, cached: true };
      }
      if (!discoverTools) {
        throw hostUnavailable(hostId, purpose);
      }
      const discovered = await discoverTools({ hostId, serverId: id, definitionDigest: definition.digest });
      if ('status' in discovered) {
        throw refusalError(discovered);
      }
      return discovered;
    },
  );
}
