import { z } from 'zod';
import { agentSupport } from '../../contracts/agent-support';
import { listPage } from '../../contracts/query';
import type { Routes } from '../../platform/http/routes';
import { slicePage } from '../../platform/lists/slice';
import { supportRow } from '../../runs/agent-support';
import { digestOf } from '../../runs/digest';
import { createHostManifestStore } from '../../stores/host-manifest-store';
import { createHostStore } from '../../stores/host-store';
import type { ApiContext } from '../context';

const supportQuery = z.strictObject(listPage(1000, 1000));

/** What live hosts know of the configured agents: found or not, their version, and what is wrong. */
export function agentSupportRoutes(
  routes: Routes,
  { agents, database }: Pick<ApiContext, 'agents' | 'database'>,
): void {
  const opening = Promise.all([createHostStore(database), createHostManifestStore(database)]);
  // A store that does not answer is told to whoever asks.
  opening.catch(() => undefined);
  routes.add(
    {
      method: 'get',
      path: '/config/agent-support',
      operationId: 'getAgentSupport',
      summary: 'Read what hosts know of the configured agents',
      tag: 'config',
      permission: 'settings:read',
      query: supportQuery,
      response: agentSupport,
    },
    async ({ query }) => {
      const [hosts, manifests] = await opening;
      const [{ agents: configured }, live] = await Promise.all([agents.read(), hosts.everyLive()]);
      const found = await manifests.of(live.map(({ _id }) => _id));
      const rows = configured.flatMap((agent) => {
        const digest = digestOf(agent);
        const evidence = found.filter(
          ({ agent: type, configDigest }) => type === agent.type && configDigest === digest,
        );
        return evidence.length > 0 ? evidence.map((one) => supportRow(agent, one)) : [supportRow(agent, undefined)];
      });
      const page = slicePage(rows, query, ({ agentType, hostId }) => ({ key: agentType, id: hostId ?? '' }));
      return page.answer({ agents: page.items });
    },
  );
}
