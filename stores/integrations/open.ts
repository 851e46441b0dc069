import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createPullRequestStore } from './pull-request-store';

/** Opens the stores of what is shared with other systems. */
export const openIntegrationStores = (database: Database) =>
  openTogether({
    pullRequests: createPullRequestStore(database),
  });
