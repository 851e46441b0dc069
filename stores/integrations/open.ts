import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createIssueMappingStore } from './issue-mapping-store';
import { createIssueSyncStore } from './issue-sync-store';
import { createPullRequestStore } from './pull-request-store';

/** Opens the stores of what is shared with other systems. */
export const openIntegrationStores = (database: Database) =>
  openTogether({
    issueMappings: createIssueMappingStore(database),
    issueSyncs: createIssueSyncStore(database),
    pullRequests: createPullRequestStore(database),
  });
