import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { agentCheck, agentCheckRequest } from '../../../contracts/settings/agent-check';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { hostUnavailable, liveHost } from '../../live-host';
import { refusalError } from '../../refusal-error';
import type { WorkflowClients } from '../../workflow-clients';

const purpose = 'start the agent';
const byType = z.strictObject({ type: slug });

/** No host can be reached where there is no workflow engine. */
export type AgentCheckContext = Pick<ApiContext, 'agents' | 'hosts'> & Partial<Pick<WorkflowClients, 'checkAgent'>>;

/** The doctor: a host starts an agent step by step, without giving it work. */
export function agentCheckRoutes(routes: Routes, { agents, hosts, checkAgent }: AgentCheckContext): void {
  routes.add(
    {
      method: 'post',
      path: '/config/agents/:type/check',
      operationId: 'checkAgent',
      summary: 'Check an agent on a host: installed, version, handshake, authentication, session',
      tag: 'config',
      permission: 'settings:write',
      params: byType,
      body: agentCheckRequest,
      response: agentCheck,
      errors: [404, 409, 503],
      audit: ({ params }, { hostId, ok }) => ({
        action: 'agents.check',
        resource: params.type,
        details: { hostId, ok },
      }),
    },
    async ({ params: { type }, body }) => {
      const { agents: configured, revision } = await agents.read();
      assertFound(
        configured.find((agent) => agent.type === type),
        'agent',
        type,
      );
      const hostId = await liveHost(hosts, body.hostId, purpose);
      if (!checkAgent) {
        throw hostUnavailable(hostId, purpose);
      }
      const checked = await checkAgent({ hostId, agentType: type, revision });
      if ('status' in checked) {
        throw refusalError(checked);
      }
      return checked;
    },
  );
}
