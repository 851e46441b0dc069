import type { RoutingConfiguration } from '../contracts/routing';
import type { TeamRoster } from '../contracts/team-roster';
import { defaultRouting } from '../runs/routing/defaults';
import type { ProfileAgent, RoutingInputs } from '../runs/routing/decide';
import type { AgentConfigStore } from './agent-config-store';
import { createAgentRegistryStore, type RegistryStoreOptions } from './agent-registry-store';
import type { Database } from './collection';
import { createHostManifestStore, probedEvidence } from './host-manifest-store';
import { createHostStore } from './host-store';
import { allEvidence, declaredEvidence, probedOrDeclared, registeredEvidence } from './runtime-evidence';
import { openSettingsDocument } from './settings-document';

export interface RoutingStoreOptions {
  agents: Pick<AgentConfigStore, 'read'>;
  /** The profiles members of the roster may work with. */
  profiles?: () => Promise<ProfileAgent[]>;
  /** Retries of a lost run where no routing is configured. */
  maxRetries?: number;
  registry?: RegistryStoreOptions;
}

/** Everything routing is decided from, and where it is kept. */
export async function createRoutingStore(
  db: Database,
  { agents, profiles = async () => [], maxRetries, registry: registryOptions = {} }: RoutingStoreOptions,
) {
  const [configuration, roster, registry, hosts, manifests] = await Promise.all([
    openSettingsDocument<RoutingConfiguration>(db, 'routing'),
    openSettingsDocument<TeamRoster>(db, 'team-roster'),
    createAgentRegistryStore(db, registryOptions),
    createHostStore(db),
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
      if (value) return { value, revision };
      const { agents: list, defaultAgent } = await agents.read();
      return { value: defaultRouting(list, defaultAgent, maxRetries), revision };
    },

    /** @throws StaleRevisionError */
    configure: (value: RoutingConfiguration, expectedRevision?: number) =>
      configuration.replace(value, expectedRevision),

    /** Everything a decision looks at, as it stands now. */
    async inputs(): Promise<RoutingInputs> {
      const [{ agents: list, defaultAgent }, set, team, known] = await Promise.all([
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
        profiles: known,
        evidence: await sources.read(list),
      };
    },
  };
}

export type RoutingStore = Awaited<ReturnType<typeof createRoutingStore>>;
