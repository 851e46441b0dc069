import type { AgentConfig } from '../contracts/agent-config';
import { errorMessage } from '../platform/errors/app-error';
import type { Log } from '../platform/log/log';
import type { ProviderRegistry } from '../providers/agents/registry';
import { runtimeManifest } from '../runs/capabilities';
import type { AgentConfigStore } from '../stores/agent-config-store';
import type { HostManifestStore } from '../stores/host-manifest-store';

export interface ProbingDependencies {
  hostId: string;
  agents: Pick<AgentConfigStore, 'read'>;
  providers: ProviderRegistry;
  manifests: Pick<HostManifestStore, 'get' | 'put'>;
  log: Log;
  now: () => Date;
}

/** How often it is looked whether an agent has to be probed, in milliseconds. */
const everyMs = 10_000;

/** How long a manifest counts before the agent is probed again, in milliseconds. A probe may start the agent's program. */
const freshForMs = { ready: 5 * 60_000, failed: 30_000 };

/**
 * Keeps what this host's agents can do on record, so that routing knows it: an agent is probed when it is configured anew,
 * every five minutes, and every half minute while its probe fails.
 */
export function startProbing(deps: ProbingDependencies): { close(): Promise<void> } {
  let closed = false;
  let round = Promise.resolve();
  const next = () => {
    round = round
      .then(() => (closed ? undefined : probeDue(deps, () => closed)))
      .catch((error: unknown) => deps.log.warn({ err: error }, 'agents could not be probed'));
  };
  next();
  const timer = setInterval(next, everyMs);
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await round;
    },
  };
}

async function probeDue(deps: ProbingDependencies, stopped: () => boolean): Promise<void> {
  const { agents } = await deps.agents.read();
  for (const agent of agents) {
    if (stopped()) return;
    if (agent.enabled && (await isDue(deps, agent))) await probe(deps, agent);
  }
}

async function isDue({ manifests, hostId, now }: ProbingDependencies, agent: AgentConfig): Promise<boolean> {
  const known = await manifests.get(hostId, agent);
  if (!known) return true;
  const limit = known.manifest.probe.state === 'ready' ? freshForMs.ready : freshForMs.failed;
  return now().getTime() - Date.parse(known.probedAt) >= limit;
}

async function probe({ providers, manifests, hostId, now }: ProbingDependencies, agent: AgentConfig): Promise<void> {
  const provider = providers.find(agent.provider);
  // Agents of this family run elsewhere: no host has anything to say about them.
  if (!provider) return;
  const result = await provider
    .probe(agent)
    .catch((error: unknown) => ({ ok: false, diagnostics: [`The probe failed: ${errorMessage(error)}`] }));
  const options = {
    probedAt: now().toISOString(),
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(agent.hostEnforced === undefined ? {} : { hostEnforced: agent.hostEnforced }),
  };
  await manifests.put(hostId, agent, runtimeManifest(agent.provider, result, options));
}
