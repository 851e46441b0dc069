import { z } from 'zod';
import { listPage } from '../../../contracts/query';
import { agentSupport } from '../../../contracts/settings/agent-support';
import type { Routes } from '../../../platform/http/routing/routes';
import { slicePage } from '../../../platform/lists/slice';
import { readSupport, type SupportContext } from './support-rows';

const supportQuery = z.strictObject(listPage(1000, 1000));

/** The live hosts' probes of the configured agents: installed or not, their version, and what is wrong. */
export function agentSupportRoutes(routes: Routes, context: SupportContext): void {
  routes.add(
    {
      method: 'get',
      path: '/config/agent-support',
      operationId: 'getAgentSupport',
      summary: 'Read the support of configured agents by host',
      tag: 'config',
      permission: 'settings:read',
      query: supportQuery,
      response: agentSupport,
    },
    async ({ query }) => {
      const { rows } = await readSupport(context);
      const page = slicePage(rows, query, {
        positionOf: ({ agentType, hostId }) => ({ key: agentType, id: hostId ?? '' }),
      });
      return page.answer({ agents: page.items });
    },
  );
}
