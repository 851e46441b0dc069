import type { RoutingConfiguration } from '../../contracts/settings/routing';
import type { TeamRoster } from '../../contracts/settings/team-roster';
import type { ProfileAgent, RoutingInputs } from '../../domain/routing/decide';
import { defaultRouting } from '../../domain/routing/defaults';
import type { Database } from '../port/collection';
import { openSettingsDocument } from '../port/settings-document';
import { createHostManifestStore, probedEvidence } from '../runs/hosts/host-manifest-store';
import type { HostStore } from '../runs/hosts/host-store';
import { allEvidence, declaredEvidence, probedOrDeclared, registeredEvidence } from '../runs/hosts/runtime-evidence';
import type { AgentConfigStore } from './agent-config-store';
import { createAgentRegistryStore, type RegistryStoreOptions } from './agent-registry-store';

export interface RoutingStoreOptions {
  agents: Pick<AgentConfigStore, 'read'>;
  /** The machines that execute runs, which all workspaces have in common. */
  hosts: HostStore;
  /** The profiles members of the roster may work with. */
  profiles?: () => Promise<ProfileAgent[]>;
  /** Retries of a lost run where no routing is configured. */
  maxRetries?: number;
  registry?: RegistryStoreOptions;
}

/** Everything routing is decided from, and its storage. */
export async function createRoutingStore(
  db: Database,
  { agents, hosts, profiles = async () => [], maxRetries, registry: registryOptions = {} }: RoutingStoreOptions,
) {
  const [configuration, roster, registry, manifests] = await Promise.all([
    openSettingsDocument<RoutingConfiguration>(db, 'routing'),
    openSettingsDocument<TeamRoster>(db, 'team-roster'),
    createAgentRegistryStore(db, registryOptions),
    createHostManifestStore(db),
  ]);
  const now = registryOptions.now ?? (() => new Date());
  const sources = allEvidence(
    probedOrDeclared(probedEvidence(manifests, hosts), declaredEvidence(hosts, now)),
    registeredEvidence(registry),
  );

  return {
    roster,
    registry,
    hosts,
    profiles,
    evidence: sources,

    /** The configuration that was set, or the one that follows from the configured agents; its revision is 0 then. */
    async configuration(): Promise<{ value: RoutingConfiguration; revision: number }> {
      const { value, revision } = await configuration.read();
      if (value) {
        return { value, revision };
      }
      const { agents: list, defaultAgent } = await agents.read();
      return { value: defaultRouting(list, defaultAgent, maxRetries), revision };
    },

    /** @throws StaleRevisionError */
    configure: (value: RoutingConfiguration, expectedRevision?: number) =>
      configuration.replace(value, expectedRevision),

    /** The current inputs of a decision. */
    async inputs(): Promise<RoutingInputs> {
      const [{ agents: list, defaultAgent }, set, team, profileAgents] = await Promise.all([
        agents.read(),
        configuration.read(),
        roster.read(),
        profiles(),
      ]);
      return {
        configuration: set.value ?? defaultRouting(list, defaultAgent, maxRetries),
        roster: team.value,
        agents: list,
        defaultAgent,
        profiles: profileAgents,
        evidence: await sources.read(list),
      };
    },
  };
}

export type RoutingStore = Awaited<ReturnType<typeof createRoutingStore>>;
