import type { Board } from './board-files/types';
import { openChatStores } from './chat/open';
import { openGovernanceStores } from './governance/open';
import { type IdentityStores, identityStoresOf, openIdentityStores } from './identity/open';
import { openIntegrationStores } from './integrations/open';
import { openKnowledgeStores, type SharedKnowledge } from './knowledge/open';
import type { Database } from './port/collection';
import { createHostStore } from './runs/hosts/host-store';
import { openRunStores, type SharedRunStores } from './runs/open';
import { openSettingsStores, type SettingsStoresEnvironment } from './settings/open';
import type { InstallationSettings } from './settings/settings-store';
import { openSystemStores } from './system/open';
import { openTaskStores } from './tasks/open';

/** What of the configuration the stores depend on. */
export interface StoresEnvironment extends SettingsStoresEnvironment {
  BOARD_ARTIFACT_RETENTION_MS: number;
  BOARD_DATA_DIR: string;
  BOARD_SKILL_ROOTS: string[];
  BOARD_CREDENTIAL_KEY?: string | undefined;
}

/** What all workspaces have in common; every other store is one workspace's own. */
export interface SharedStores extends SharedRunStores, IdentityStores, SharedKnowledge {
  settings: InstallationSettings;
}

/** A workspace besides `local`. */
export interface OtherWorkspace {
  workspaceId: string;
  /** The stores of `local`. */
  shared: SharedStores;
}

/**
 * Opens every store of a process, an api and a worker alike; each is opened once, and passed to what uses it.
 *
 * @param options.tasks the board, where this process has its files
 * @param options.other whose stores they are; those of `local` when absent
 */
export async function openStores(
  database: Database,
  env: StoresEnvironment,
  { tasks, other }: { tasks: Pick<Board, 'get'> | undefined; other: OtherWorkspace | undefined },
) {
  const system = await openSystemStores(database, env.BOARD_CREDENTIAL_KEY);
  const hosts = other?.shared.hosts ?? (await createHostStore(database));
  const configured = await openSettingsStores(database, env, { hosts, installation: other?.shared.settings });
  const { settings } = configured;
  const runs = await openRunStores(database, {
    ...system,
    hosts,
    settings,
    outputRetentionMs: env.BOARD_ARTIFACT_RETENTION_MS,
    other,
  });
  return {
    ...system,
    ...(other ? identityStoresOf(other.shared) : await openIdentityStores(database)),
    ...configured,
    ...(await openTaskStores(database)),
    ...runs,
    ...(await openChatStores(database)),
    ...(await openGovernanceStores(database, { ...system, settings, attempts: runs.attempts, tasks })),
    ...(await openKnowledgeStores(database, env, other)),
    ...(await openIntegrationStores(database)),
  };
}

/** Every store; what uses some of them takes `Pick<Stores, …>`. */
export type Stores = Awaited<ReturnType<typeof openStores>>;
