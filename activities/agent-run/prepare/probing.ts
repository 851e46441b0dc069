import { circuitBreaker, type CircuitBreakerPolicy, CircuitState, ConsecutiveBreaker, handleAll } from 'cockatiel';
import type { ProviderRuntimeManifest } from '../../../contracts/runs/launch/contract';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { ObservedOffer, SessionOffer } from '../../../contracts/settings/session-offer';
import { probeRevisionOf, runtimeManifest, withModel } from '../../../domain/capabilities';
import { compact } from '../../../platform/json/compact';
import { within } from '../../../platform/operations/within';
import type { AgentProvider, ProviderProbe } from '../../../providers/agents/provider';
import type { ProviderRegistry } from '../../../providers/agents/registry';
import {
  type AgentCircuit,
  currentOffer,
  type HostManifest,
  type HostManifestStore,
  probedConfig,
} from '../../../stores/runs/hosts/host-manifest-store';

export interface ProbingDependencies {
  providers: ProviderRegistry;
  manifests: Pick<HostManifestStore, 'get' | 'put' | 'putOffer' | 'putLogin'>;
  hostId: string;
  now: () => Date;
}

/** Starts that fail in a row before the next ones are suspended, and for how long, in milliseconds. */
const circuit = { failures: 3, openMs: 30_000 } as const;
/** How long a probe counts although nothing of the agent's files has changed, in milliseconds. */
const lastsMs = 300_000;

interface Guard {
  breaker: CircuitBreakerPolicy;
  failures: number;
  openedAt: number;
}

/** What a host knows of an agent when it is about to start it. */
export type Probed = Pick<HostManifest, 'manifest' | 'circuit'> & { offer?: ObservedOffer };

/** The agent is still starting for its probe: the first start of a package may download it. */
export class StillProbingError extends Error {
  override readonly name = 'StillProbingError';
}

/**
 * Probes the configured agents of this host. A probe counts until the agent's configuration, its files or its version change,
 * or it is five minutes old; an agent that fails again and again is suspended for a while.
 */
export function createAgentProbing({ providers, manifests, hostId, now }: ProbingDependencies) {
  const guards = new Map<string, Guard>();
  /** Probes in progress, by what they depend on: a launch that needs the same one waits for it, and starts no other. */
  const running = new Map<string, Promise<ProviderProbe>>();

  return {
    /**
     * What the agent can do on this host, by a probe that still counts or a new one.
     *
     * @param patienceMs how long to wait for a new one; it goes on, and is there for a later call
     * @throws StillProbingError when that was not long enough
     */
    async probe(agent: AgentConfig, patienceMs?: number): Promise<Probed> {
      const provider = providers.find(agent.provider);
      if (!provider) {
        return { manifest: manifestOf(agent, { ok: true, diagnostics: [] }), circuit: closed };
      }
      const guard = guardOf(agent);
      const fingerprint = await provider.fingerprint(agent);
      const recorded = await manifests.get(hostId, agent);
      if (recorded && (isOpen(guard) || stillCounts(recorded, fingerprint))) {
        return {
          manifest: withModel(recorded.manifest, agent.model),
          circuit: circuitOf(guard),
          ...compact({ offer: currentOffer(recorded, now()) }),
        };
      }
      const probing = attempt(provider, agent, { guard, build: fingerprint }).then(async (manifest) => {
        const probed = { manifest, circuit: circuitOf(guard) };
        await manifests.put(hostId, agent, { fingerprint, ...probed });
        return probed;
      });
      return patienceMs === undefined
        ? probing
        : within(patienceMs, new StillProbingError('The probe takes longer.'), probing);
    },

    /** Records what a session of the agent on this host offers. */
    offered: (agent: AgentConfig, offer: SessionOffer): Promise<void> =>
      manifests.putOffer(hostId, agent, { ...offer, observedAt: now().toISOString() }),

    /** Records whether a check of the agent on this host was let in; `null` where the agent did not show it. */
    checkedLogin: (agent: AgentConfig, authenticated: boolean | null): Promise<void> =>
      manifests.putLogin(hostId, agent, { authenticated, observedAt: now().toISOString() }),

    /** Refreshes the probe of the agent while no launch waits for it: affects none of its launches. */
    async look(agent: AgentConfig): Promise<void> {
      const provider = providers.find(agent.provider);
      // Agents of other families run elsewhere: no host can probe them.
      if (!provider) {
        return;
      }
      const fingerprint = await provider.fingerprint(agent);
      const recorded = await manifests.get(hostId, agent);
      if (recorded && stillCounts(recorded, fingerprint)) {
        return;
      }
      const manifest = manifestOf(agent, { ...(await probeOnce(provider, agent)), build: fingerprint });
      await manifests.put(hostId, agent, { fingerprint, manifest, circuit: circuitOf(guardOf(agent)) });
    },

    /** Reports that an agent could not be started although its probe succeeded. */
    async failedToStart(agent: AgentConfig): Promise<void> {
      const guard = guardOf(agent);
      await guard.breaker.execute(() => Promise.reject(new Error('not started'))).catch(() => undefined);
      const recorded = await manifests.get(hostId, agent);
      if (recorded) {
        await manifests.put(hostId, agent, { ...recorded, circuit: circuitOf(guard) });
      }
    },
  };

  function probeOnce(provider: AgentProvider, agent: AgentConfig): Promise<ProviderProbe> {
    const key = probedConfig(agent);
    const current = running.get(key);
    if (current) {
      return current;
    }
    const probe = provider.probe(agent).finally(() => running.delete(key));
    running.set(key, probe);
    return probe;
  }

  /** One breaker for each configuration of an agent: a changed one begins at zero. */
  function guardOf(agent: AgentConfig): Guard {
    const key = probedConfig(agent);
    const recorded = guards.get(key);
    if (recorded) {
      return recorded;
    }
    const breaker = circuitBreaker(handleAll, {
      halfOpenAfter: circuit.openMs,
      breaker: new ConsecutiveBreaker(circuit.failures),
    });
    const guard: Guard = { breaker, failures: 0, openedAt: 0 };
    breaker.onFailure(() => (guard.failures += 1));
    breaker.onSuccess(() => (guard.failures = 0));
    breaker.onBreak(() => (guard.openedAt = now().getTime()));
    guards.set(key, guard);
    return guard;
  }

  async function attempt(
    provider: AgentProvider,
    agent: AgentConfig,
    { guard: { breaker }, build }: { guard: Guard; build: string },
  ): Promise<ProviderRuntimeManifest> {
    const failure: { manifest?: ProviderRuntimeManifest } = {};
    try {
      return await breaker.execute(async () => {
        const manifest = manifestOf(agent, { ...(await probeOnce(provider, agent)), build });
        if (manifest.probe.state !== 'failed') {
          return manifest;
        }
        failure.manifest = manifest;
        throw new Error('The probe failed.');
      });
    } catch (error) {
      if (failure.manifest) {
        return failure.manifest;
      }
      const reason = error instanceof Error ? error.message : String(error);
      return manifestOf(agent, { ok: false, diagnostics: [reason], build });
    }
  }

  function stillCounts(recorded: HostManifest, fingerprint: string): boolean {
    return (
      recorded.manifest.probeRevision === probeRevisionOf(recorded.manifest.provider as AgentConfig['provider']) &&
      recorded.manifest.probe.state !== 'failed' &&
      recorded.fingerprint === fingerprint &&
      now().getTime() - Date.parse(recorded.probedAt) < lastsMs
    );
  }

  function manifestOf(agent: AgentConfig, probe: Parameters<typeof runtimeManifest>[1]): ProviderRuntimeManifest {
    const model = agent.model === undefined ? {} : { model: agent.model };
    const hostEnforced = agent.hostEnforced === undefined ? {} : { hostEnforced: agent.hostEnforced };
    return runtimeManifest(agent.provider, probe, { probedAt: now().toISOString(), ...model, ...hostEnforced });
  }
}

export type AgentProbing = ReturnType<typeof createAgentProbing>;

const closed: AgentCircuit = { state: 'closed', failures: 0 };

const isOpen = ({ breaker }: Guard): boolean => breaker.state === CircuitState.Open;

function circuitOf({ breaker, failures, openedAt }: Guard): AgentCircuit {
  if (breaker.state === CircuitState.Open) {
    return { state: 'open', failures, retryAt: new Date(openedAt + circuit.openMs).toISOString() };
  }
  return { state: breaker.state === CircuitState.HalfOpen ? 'half-open' : 'closed', failures };
}

/** The same providers, which report agents that could not be started. */
export const reportingStarts = (
  providers: ProviderRegistry,
  probing: Pick<AgentProbing, 'failedToStart'>,
): ProviderRegistry => ({
  find(family) {
    const provider = providers.find(family);
    return (
      provider && {
        ...provider,
        async run(dispatch, sink, signal) {
          const outcome = await provider.run(dispatch, sink, signal);
          if (outcome.ended === 'spawn-failed') {
            await probing.failedToStart(dispatch.agent);
          }
          return outcome;
        },
      }
    );
  },
});
