import { z } from 'zod';
import { listPage } from '../../../contracts/query';
import { agentSupport } from '../../../contracts/settings/agent-support';
import { supportRow } from '../../../domain/agent-support';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import { currentOffer, probedConfig } from '../../../stores/runs/hosts/host-manifest-store';
import type { ApiContext } from '../../context';

const supportQuery = z.strictObject(listPage(1000, 1000));

/** The live hosts' probes of the configured agents: installed or not, their version, and what is wrong. */
export function agentSupportRoutes(
  routes: Routes,
  { agents, hosts, hostManifests, now }: Pick<ApiContext, 'agents' | 'hosts' | 'hostManifests' | 'now'>,
): void {
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
      const [{ agents: configured }, live] = await Promise.all([agents.read(), hosts.everyLive()]);
      const manifests = await hostManifests.of(live.map(({ _id }) => _id));
      const rows = configured.flatMap((agent) => {
        const digest = probedConfig(agent);
        const evidence = manifests.filter(
          ({ agent: type, configDigest }) => type === agent.type && configDigest === digest,
        );
        return evidence.length > 0
          ? evidence.map((one) => ({ ...supportRow(agent, one), ...compact({ offer: currentOffer(one, now()) }) }))
          : [supportRow(agent, undefined)];
      });
      const page = slicePage(rows, query, {
        positionOf: ({ agentType, hostId }) => ({ key: agentType, id: hostId ?? '' }),
      });
      return page.answer({ agents: page.items });
    },
  );
}
