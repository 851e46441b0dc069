import { z } from 'zod';
import { slug } from '../../../contracts/common';
import { agentCheck, agentCheckRequest } from '../../../contracts/settings/agent-check';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { refusalError } from '../../refusal-error';
import type { WorkflowClients } from '../../workflow-clients';

const byType = z.strictObject({ type: slug });

/** No host can be reached where there is no workflow engine. */
export type AgentCheckContext = Pick<ApiContext, 'agents' | 'hosts'> & Partial<Pick<WorkflowClients, 'checkAgent'>>;

/** The doctor: a host starts an agent step by step, without giving it work. */
export function agentCheckRoutes(routes: Routes, { agents, hosts, checkAgent }: AgentCheckContext): void {
  const unavailable = (hostId: string | undefined) =>
    conflict(
      `No worker ${hostId === undefined ? '' : `of the host ${hostId} `}is live, and only a worker can start the agent.`,
      { hostId: hostId ?? null, remediation: 'Start a worker, or name a live host of GET /api/config/agent-presets.' },
      'HOST_UNAVAILABLE',
    );
  const hostOf = async (requested: string | undefined): Promise<string> => {
    if (requested === undefined) {
      const chosen = await hosts.anyLive();
      if (chosen === undefined) {
        throw unavailable(undefined);
      }
      return chosen;
    }
    if (!(await hosts.isKnown(requested))) {
      throw validationError([{ path: 'hostId', message: 'no worker of this host has ever registered' }]);
    }
    if (!(await hosts.capacityOf(requested)).takesWork) {
      throw unavailable(requested);
    }
    return requested;
  };

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
      const hostId = await hostOf(body.hostId);
      if (!checkAgent) {
        throw unavailable(hostId);
      }
      const checked = await checkAgent({ hostId, agentType: type, revision });
      if ('status' in checked) {
        throw refusalError(checked);
      }
      return checked;
    },
  );
}
