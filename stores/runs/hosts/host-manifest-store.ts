import type { ProviderRuntimeManifest } from '../../../contracts/runs/launch/contract';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { type ObservedOffer, observedOffer } from '../../../contracts/settings/session-offer';
import type { RuntimeEvidence, RuntimeEvidenceSource } from '../../../domain/routing/evidence';
import { digestOf } from '../../../platform/json/digest';
import type { Database, Stored } from '../../port/collection';
import type { HostStore } from './host-store';

/** The result of one host's probe of one agent. */
export interface HostManifest extends Stored {
  hostId: string;
  agent: string;
  /** Of the agent's configuration as it was probed: another one has not been probed yet. */
  configDigest: string;
  manifest: ProviderRuntimeManifest;
  probedAt: string;
  /** Of the files the agent is started from. */
  fingerprint: string;
  circuit: AgentCircuit;
  /** What a session of the agent has last offered here, with the configuration and the files it had then. */
  offer?: ObservedOffer & { configDigest: string; fingerprint: string };
  /** Whether the last check of the agent here was let in; `null` where the agent did not show it. */
  login?: { authenticated: boolean | null; observedAt: string; configDigest: string; fingerprint: string };
}

/** Whether launches of an agent on a host are held back, because its last ones could not be started. */
export interface AgentCircuit {
  state: 'closed' | 'open' | 'half-open';
  /** How many failed in a row. */
  failures: number;
  /** When the next one is let through. */
  retryAt?: string;
}

/** The circuit as the next launch meets it: an open one lets one launch through once its time has come. */
export const circuitAt = (circuit: AgentCircuit, now: Date): AgentCircuit =>
  circuit.state === 'open' && circuit.retryAt !== undefined && Date.parse(circuit.retryAt) <= now.getTime()
    ? { ...circuit, state: 'half-open' }
    : circuit;

/** Of what a probe depends on: launches choose a model and a mode without another probe. */
export const probedConfig = ({ model: _model, mode: _mode, ...agent }: AgentConfig): string => digestOf(agent);

/** How long what a session has shown counts, in milliseconds: agents learn of models from elsewhere, and logins end. */
const observationLastsMs = 3_600_000;

/** Whether an observation is of the present configuration and files of the agent, and not too old. */
function isCurrent(
  observed: { configDigest: string; fingerprint: string; observedAt: string } | undefined,
  { configDigest, fingerprint }: HostManifest,
  now: Date,
): boolean {
  return (
    observed?.configDigest === configDigest &&
    observed.fingerprint === fingerprint &&
    now.getTime() - Date.parse(observed.observedAt) < observationLastsMs
  );
}

/** The offer of a host's record, if it is of the present configuration and files of the agent and not too old. */
export const currentOffer = (manifest: HostManifest, now: Date): ObservedOffer | undefined =>
  isCurrent(manifest.offer, manifest, now) ? observedOffer.parse(manifest.offer) : undefined;

/** Whether the agent could log in, by a check within the last hour; `null` where that is not known. */
export const currentLogin = (manifest: HostManifest, now: Date): boolean | null =>
  isCurrent(manifest.login, manifest, now) ? (manifest.login?.authenticated ?? null) : null;

const idOf = (hostId: string, agent: string) => `${hostId}/${agent}`;

/** The latest manifest of each agent on each host. */
export async function createHostManifestStore(db: Database) {
  const manifests = await db.collection<HostManifest>({ name: 'host-manifests', indexes: [{ keys: { hostId: 1 } }] });
  /** Records what was seen of an agent as it is configured and installed now. */
  async function observe(
    hostId: string,
    agent: AgentConfig,
    observation: (of: Pick<HostManifest, 'configDigest' | 'fingerprint'>) => Pick<HostManifest, 'offer' | 'login'>,
  ): Promise<void> {
    const configDigest = probedConfig(agent);
    const recorded = await manifests.get(idOf(hostId, agent.type));
    if (recorded?.configDigest === configDigest) {
      const { fingerprint } = recorded;
      await manifests.findOneAndUpdate(
        { _id: recorded._id, configDigest },
        { $set: observation({ configDigest, fingerprint }) },
      );
    }
  }

  return {
    /** The host's last probe of the agent's current configuration; `undefined` when it has not probed that. */
    async get(hostId: string, agent: AgentConfig): Promise<HostManifest | undefined> {
      const manifest = await manifests.get(idOf(hostId, agent.type));
      return manifest?.configDigest === probedConfig(agent) ? manifest : undefined;
    },

    async put(
      hostId: string,
      agent: AgentConfig,
      { manifest, fingerprint, circuit }: Pick<HostManifest, 'manifest' | 'fingerprint' | 'circuit'>,
    ): Promise<void> {
      const fields = {
        hostId,
        agent: agent.type,
        configDigest: probedConfig(agent),
        manifest,
        fingerprint,
        circuit,
        probedAt: manifest.probe.probedAt,
      };
      await manifests.findOneAndUpdate({ _id: idOf(hostId, agent.type) }, { $set: fields }, { upsert: true });
    },

    /** Records what a session of the agent offers; nothing when the host has not probed this configuration. */
    putOffer: (hostId: string, agent: AgentConfig, offer: ObservedOffer): Promise<void> =>
      observe(hostId, agent, (of) => ({ offer: { ...offer, ...of } })),

    /** Records whether a check of the agent was let in; nothing when the host has not probed this configuration. */
    putLogin: (
      hostId: string,
      agent: AgentConfig,
      login: { authenticated: boolean | null; observedAt: string },
    ): Promise<void> => observe(hostId, agent, (of) => ({ login: { ...login, ...of } })),

    of: (hostIds: string[]): Promise<HostManifest[]> => manifests.find({ hostId: { $in: hostIds } }, { limit: 10_000 }),
  };
}

export type HostManifestStore = Awaited<ReturnType<typeof createHostManifestStore>>;

/** The live hosts' probes of the agents' current configurations. */
export const probedEvidence = (
  manifests: Pick<HostManifestStore, 'of'>,
  hosts: Pick<HostStore, 'live'>,
): RuntimeEvidenceSource => ({
  async read(agents) {
    const live = await hosts.live();
    if (live.length === 0) {
      return [];
    }
    const configured = new Map(agents.map((agent) => [agent.type, probedConfig(agent)]));
    const recorded = await manifests.of(live.map(({ _id }) => _id));
    return recorded
      .filter(({ agent, configDigest }) => configured.get(agent) === configDigest)
      .map(({ hostId, agent, manifest }): RuntimeEvidence => ({ source: 'host', sourceId: hostId, agent, manifest }));
  },
});
