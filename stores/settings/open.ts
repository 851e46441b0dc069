import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import type { HostStore } from '../runs/hosts/host-store';
import { createAgentConfigStore } from './agent-config-store';
import { createWorkspaceCapabilityStore } from './capability-store';
import { createHookExecutionStore, createHookStore } from './hook-store';
import { createManagedListStore } from './list-store';
import { createProfileStore } from './profile-store';
import { createRepositoryStore } from './repository-store';
import { createRoutingStore } from './routing-store';
import { createSandboxStore } from './sandbox-store';
import { createSettingsStore, type InstallationSettings, type SettingsEnvironment } from './settings-store';
import { createTemplateStore } from './template-store';
import { createTransitionHookStore } from './transition-hook-store';

/** The defaults of settings that were never set. */
export interface SettingsStoresEnvironment extends SettingsEnvironment {
  BOARD_RUN_RETRIES: number;
}

export interface SettingsStoresOptions {
  /** The machines that execute runs. */
  hosts: HostStore;
  /** The settings of `local`, for another workspace. */
  installation?: InstallationSettings | undefined;
}

/** Opens the stores of what administrators configure. */
export async function openSettingsStores(
  database: Database,
  env: SettingsStoresEnvironment,
  { hosts, installation }: SettingsStoresOptions,
) {
  const { agents, profiles } = await openTogether({
    agents: createAgentConfigStore(database),
    profiles: createProfileStore(database),
  });
  const others = await openTogether({
    hookExecutions: createHookExecutionStore(database),
    hooks: createHookStore(database),
    managedLists: createManagedListStore(database),
    repositories: createRepositoryStore(database),
    routing: createRoutingStore(database, {
      agents,
      hosts,
      profiles: () => profiles.list(),
      maxRetries: env.BOARD_RUN_RETRIES,
    }),
    sandboxes: createSandboxStore(database),
    settings: createSettingsStore(database, env, installation),
    templates: createTemplateStore(database),
    transitionHooks: createTransitionHookStore(database),
    workspaceCapabilities: createWorkspaceCapabilityStore(database),
  });
  return { agents, profiles, ...others };
}
