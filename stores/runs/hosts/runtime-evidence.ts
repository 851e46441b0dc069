import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { runtimeManifest } from '../../../domain/capabilities';
import type { RuntimeEvidence, RuntimeEvidenceSource } from '../../../domain/routing/evidence';
import type { AgentRegistryStore } from '../../settings/agent-registry-store';
import type { HostStore } from './host-store';

/**
 * What the provider family of each configured agent does, on every live host: the evidence for an agent that no host has
 * probed. A probe that fails is detected when a run is prepared.
 */
export function declaredEvidence(hosts: Pick<HostStore, 'live'>, now: () => Date): RuntimeEvidenceSource {
  return {
    async read(agents) {
      const live = await hosts.live();
      const probedAt = now().toISOString();
      return agents.flatMap((agent) => {
        const places = agent.provider === 'remote-callback' || live.length === 0 ? [null] : live.map(({ _id }) => _id);
        return places.map((sourceId) => declared(agent, sourceId, probedAt));
      });
    },
  };
}

function declared(agent: AgentConfig, sourceId: string | null, probedAt: string): RuntimeEvidence {
  const options = {
    probedAt,
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(agent.hostEnforced === undefined ? {} : { hostEnforced: agent.hostEnforced }),
  };
  const manifest = runtimeManifest(agent.provider, { ok: true, diagnostics: [] }, options);
  return { source: 'declared', sourceId, agent: agent.type, manifest };
}

/** Manifests of agents that are registered and alive (specification 2, Routing rule 4). */
export const registeredEvidence = (registry: Pick<AgentRegistryStore, 'fresh'>): RuntimeEvidenceSource => ({
  async read() {
    return (await registry.fresh()).flatMap(({ id, providerRuntimeManifest: manifest }): RuntimeEvidence[] =>
      manifest ? [{ source: 'registry', sourceId: id, agent: null, manifest }] : [],
    );
  },
});

/** What hosts have probed, and what providers declare where no host has probed an agent yet. */
export const probedOrDeclared = (
  probed: RuntimeEvidenceSource,
  declaredSource: RuntimeEvidenceSource,
): RuntimeEvidenceSource => ({
  async read(agents) {
    const [measured, assumed] = await Promise.all([probed.read(agents), declaredSource.read(agents)]);
    const seen = new Set(measured.flatMap(({ agent, sourceId }) => [`${agent}`, `${agent}@${sourceId}`]));
    const missing = ({ agent, sourceId }: RuntimeEvidence) =>
      !seen.has(sourceId === null ? `${agent}` : `${agent}@${sourceId}`);
    return [...measured, ...assumed.filter(missing)];
  },
});

/** All of them together. */
export const allEvidence = (...sources: RuntimeEvidenceSource[]): RuntimeEvidenceSource => ({
  read: async (agents) => (await Promise.all(sources.map((source) => source.read(agents)))).flat(),
});
