import { agentSupport } from '../../contracts/agent-support';
import type { Routes } from '../../platform/http/routes';
import { supportRow } from '../../runs/agent-support';
import { digestOf } from '../../runs/digest';
import { createHostManifestStore } from '../../stores/host-manifest-store';
import { createHostStore } from '../../stores/host-store';
import type { ApiContext } from '../context';

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
      response: agentSupport,
    },
    async () => {
      const [hosts, manifests] = await opening;
      const [{ agents: configured }, live] = await Promise.all([agents.read(), hosts.live()]);
      const found = await manifests.of(live.map(({ _id }) => _id));
      const rows = configured.flatMap((agent) => {
        const digest = digestOf(agent);
        const evidence = found.filter(
          ({ agent: type, configDigest }) => type === agent.type && configDigest === digest,
        );
        return evidence.length > 0 ? evidence.map((one) => supportRow(agent, one)) : [supportRow(agent, undefined)];
      });
      return { agents: rows };
    },
  );
}
