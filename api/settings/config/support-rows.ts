import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { AgentSupportRow } from '../../../contracts/settings/agent-support';
import { supportRow } from '../../../domain/agent-support';
import { compact } from '../../../platform/json/compact';
import { currentLogin, currentOffer, probedConfig } from '../../../stores/runs/hosts/host-manifest-store';
import type { ApiContext } from '../../context';

export type SupportContext = Pick<ApiContext, 'agents' | 'hosts' | 'hostManifests' | 'now'>;

/** The support of each configured agent on each live host that has probed it; one row where none has. */
export async function readSupport({
  agents,
  hosts,
  hostManifests,
  now,
}: SupportContext): Promise<{ agents: AgentConfig[]; rows: AgentSupportRow[] }> {
  const [{ agents: configured }, live] = await Promise.all([agents.read(), hosts.everyLive()]);
  const manifests = await hostManifests.of(live.map(({ _id }) => _id));
  const rows = configured.flatMap((agent) => {
    const digest = probedConfig(agent);
    const evidence = manifests.filter(
      ({ agent: type, configDigest }) => type === agent.type && configDigest === digest,
    );
    return evidence.length > 0
      ? evidence.map((one) => ({
          ...supportRow(agent, one),
          authenticated: currentLogin(one, now()),
          ...compact({ offer: currentOffer(one, now()) }),
        }))
      : [supportRow(agent, undefined)];
  });
  return { agents: configured, rows };
}
