import type { Database } from '../port/collection';
import { openTogether } from '../port/open-together';
import { createIssueMappingStore } from './issue-mapping-store';
import { createIssueSyncStore } from './issue-sync-store';
import { createPullRequestStore } from './pull-request-store';
import { createToolCallStore } from './tool-call-store';
import { createToolCatalogStore, createWorkflowToolCatalogStore } from './tool-catalog-store';
import { createToolDiscoveryStore } from './tool-discovery-store';
import { createToolServerStore } from './tool-server-store';
import { createTrackerLinkStore } from './trackers/tracker-link-store';
import { createTrackerStore } from './trackers/tracker-store';
import { createWorkflowToolCallStore } from './workflow-tools/call-store';

/** Opens the stores of what is shared with other systems. */
export const openIntegrationStores = (database: Database) =>
  openTogether({
    issueMappings: createIssueMappingStore(database),
    issueSyncs: createIssueSyncStore(database),
    pullRequests: createPullRequestStore(database),
    toolCalls: createToolCallStore(database),
    toolCatalogs: createToolCatalogStore(database),
    toolDiscoveries: createToolDiscoveryStore(database),
    toolServers: createToolServerStore(database),
    trackerLinks: createTrackerLinkStore(database),
    trackers: createTrackerStore(database),
    workflowToolCalls: createWorkflowToolCallStore(database),
    workflowToolCatalogs: createWorkflowToolCatalogStore(database),
  });
