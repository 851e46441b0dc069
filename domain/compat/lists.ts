import { z } from 'zod';
import { compatNotificationQuery } from '../../contracts/compat';
import { type CompatRow, row } from './presenter';

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
  ...Object.entries(listFields).map(([operation, field]) =>
    row<Record<string, unknown[]>>([operation], {
      present: (reply) => reply[field],
      response: z.array(z.unknown()),
    }),
  ),
  row<{ branches: { name: string }[] }>(['listRepositoryBranches'], {
    present: ({ branches }) => branches.map(({ name }) => name),
    response: z.array(z.string()),
  }),
  {
    operations: ['listNotifications'],
    query: compatNotificationQuery,
    toQuery: ({ unsent }) => (typeof unsent === 'string' ? { undelivered: unsent } : {}),
  },
];
