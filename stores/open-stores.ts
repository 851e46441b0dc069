import { openChatStores } from './chat/open';
import { openGovernanceStores } from './governance/open';
import { type IdentityStores, identityStoresOf, openIdentityStores } from './identity/open';
import { openIntegrationStores } from './integrations/open';
import { openKnowledgeStores } from './knowledge/open';
import type { Database } from './port/collection';
import { openRunStores, type SharedRunStores } from './runs/open';
import { openSettingsStores, type SettingsStoresEnvironment } from './settings/open';
import { openSystemStores } from './system/open';
import { openTaskStores } from './tasks/open';

/** What of the configuration the stores depend on. */
export interface StoresEnvironment extends SettingsStoresEnvironment {
  BOARD_ARTIFACT_RETENTION_MS: number;
}

/** What all workspaces have in common; every other store is one workspace's own. */
export type SharedStores = SharedRunStores & IdentityStores;

/**
 * Opens every store of a process, an api and a worker alike; each is opened once, and passed to what uses it.
 *
 * @param shared of `local`, for the stores of another workspace
 */
export async function openStores(database: Database, env: StoresEnvironment, shared?: SharedStores) {
  const system = await openSystemStores(database);
  return {
    ...system,
    ...(shared ? identityStoresOf(shared) : await openIdentityStores(database)),
    ...(await openSettingsStores(database, env)),
    ...(await openTaskStores(database)),
    ...(await openRunStores(database, {
      ...system,
      outputRetentionMs: env.BOARD_ARTIFACT_RETENTION_MS,
      shared,
    })),
    ...(await openChatStores(database)),
    ...(await openGovernanceStores(database, system)),
    ...(await openKnowledgeStores(database)),
    ...(await openIntegrationStores(database)),
  };
}

/** Every store; what uses some of them takes `Pick<Stores, …>`. */
export type Stores = Awaited<ReturnType<typeof openStores>>;
