import { z } from 'zod';
import { compatNotificationQuery } from '../../contracts/compat';
import type { CompatRow } from './presenter';

/** Lists that come in an object by default, by the field with their items. Tasks, attempts and agents have rows of their own. */
const listFields: Readonly<Record<string, string>> = {
  getAgentSupport: 'agents',
  listAgentPresets: 'presets',
  listHosts: 'hosts',
  listProfiles: 'profiles',
  listRepositories: 'repos',
  listSandboxPresets: 'presets',
  listToolServers: 'servers',
  listTrustedWorkspaces: 'workspaces',
  listTrustedManifests: 'workspaces',
  getTrackerConnections: 'connections',
  listTrackerProfiles: 'profiles',
  listTrackerAudits: 'audits',
  listCommunicationAdapters: 'adapters',
  listCommunicationMappings: 'mappings',
  listCommunicationDeliveries: 'deliveries',
  listCommunityChannels: 'channels',
  listCommunityDefinitions: 'definitions',
  listCommunityDefinitionLinks: 'links',
  listIssueMappings: 'mappings',
  listRunContinuations: 'continuations',
  previewExpiredWorktrees: 'candidates',
  getFullDiff: 'files',
};

/** Lists of which only the items come. */
export const listRows: readonly CompatRow[] = [
  ...Object.entries(listFields).map(([operation, field]): CompatRow => ({
    operations: [operation],
    present: (reply: Record<string, unknown[]>) => reply[field],
    response: z.array(z.unknown()),
  })),
  {
    operations: ['listRepositoryBranches'],
    present: ({ branches }: { branches: { name: string }[] }) => branches.map(({ name }) => name),
    response: z.array(z.string()),
  },
  {
    operations: ['listNotifications'],
    query: compatNotificationQuery,
    toQuery: ({ unsent }): Record<string, string> => (typeof unsent === 'string' ? { undelivered: unsent } : {}),
  },
];
