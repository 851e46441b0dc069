import { retainLine } from '../../../platform/log/recent-lines';
import type { ApiUnderTest } from '../api-under-test';
import { done, type ListCase, posting } from './list-case';

const agent = (capability: string) => (board: ApiUnderTest, n: number) =>
  done(board, 'POST', '/api/agents/register', {
    id: `${capability}-${n}`,
    name: `Agent ${n}`,
    capabilities: [{ name: capability }],
  });

const workspace = (name: string) => (board: ApiUnderTest, n: number) =>
  done(board, 'POST', '/api/workspace-capabilities/trusted', {
    workspaceId: `${name}-${n}`,
    name,
    capabilities: [],
  });

const prompt = (name: string) => (board: ApiUnderTest, n: number) =>
  done(board, 'POST', '/api/prompt-registry', { name: `${name} ${n}`, category: 'tool', content: 'Do it' });

const onePrompt = async (board: ApiUnderTest): Promise<string> => (await prompt('Listed')(board, 0)).id as string;

const skill = (name: string) => (board: ApiUnderTest, n: number) =>
  done(board, 'POST', '/api/shared-resources', { name: `${name} ${n}`, type: 'skill', content: `Do it ${n}` });

/** What people configure and programs announce. */
export const configuredCases: ListCase[] = [
  {
    operation: 'listLogEntries',
    path: '/api/maintenance/logs?q=listed%20line',
    items: 'entries',
    idOf: ({ sequence }) => sequence,
    add: async (_board, n) => retainLine(`{"level":"info","msg":"listed line ${n}"}`),
  },
  {
    operation: 'listSkillProfiles',
    path: '/api/skills/capabilities?q=profiled',
    idOf: ({ skillId }) => skillId,
    add: skill('Profiled'),
  },
  {
    operation: 'listSkillInventory',
    path: '/api/skills/security/inventory?q=inventoried',
    items: 'skills',
    idOf: ({ skillId }) => skillId,
    add: skill('Inventoried'),
  },
  {
    operation: 'listSkillScans',
    path: '/api/skills/security/scans',
    prepare: async (board) => (await skill('Scanned')(board, 0)).id as string,
    add: (board, _n, id) => done(board, 'POST', '/api/skills/security/scan', { path: `shared-resources/${id}` }),
  },
  {
    operation: 'listAgentPermissions',
    path: '/api/agents/permissions',
    idOf: ({ agentId }) => agentId,
    add: ({ api }, n) => api.context.agentPermissions.create(`permitted-${n}`, {}),
  },
  {
    operation: 'listProfiles',
    path: '/api/config/profiles',
    items: 'profiles',
    add: (board, n) =>
      done(board, 'PUT', `/api/config/profiles/listed-${n}`, { name: `Profile ${n}`, agent: 'example' }),
  },
  {
    operation: 'listRepositories',
    path: '/api/config/repos',
    items: 'repos',
    idOf: ({ name }) => name,
    add: ({ api, dataDir }, n) =>
      api.context.repositories.add({ name: `listed-${n}`, path: dataDir, defaultBranch: 'main' }),
  },
  {
    operation: 'listIssueMappings',
    path: '/api/github/sync/mappings',
    items: 'mappings',
    idOf: ({ taskId }) => taskId,
    prepare: async ({ api: { context }, dataDir }) => {
      const forge = { kind: 'github', repository: 'acme/listed', credential: 'env:GITHUB_TOKEN' } as const;
      await context.repositories.add({ name: 'listed', path: dataDir, defaultBranch: 'main', forge });
      const config = { enabled: false, syncMode: 'inbound', labelFilter: null, pollIntervalMs: 60_000 } as const;
      await context.issueSyncs.configs.create('listed', { ...config, updatedBy: 'user:test' });
      return '';
    },
    add: ({ api }, n) =>
      api.context.issueMappings.add({
        taskId: `task_issue_${n}`,
        ...{ repo: 'listed', repository: 'acme/listed', scope: 'github:acme/listed', issueNumber: n, url: null },
        ...{ origin: 'issue', state: 'creating', createdAt: '2026-01-01T00:00:00.000Z' },
      }),
  },
  { operation: 'listPrompts', path: '/api/prompt-registry?category=tool', add: prompt('Prompt') },
  {
    operation: 'listPromptStats',
    path: '/api/prompt-registry/stats/all',
    idOf: ({ promptId }) => promptId,
    add: prompt('Counted'),
  },
  {
    operation: 'listPromptVersions',
    prepare: onePrompt,
    path: (id) => `/api/prompt-registry/${id}/versions`,
    idOf: ({ version }) => version,
    add: (board, n, id) => done(board, 'PATCH', `/api/prompt-registry/${id}`, { content: `Version ${n}` }),
  },
  {
    operation: 'listPromptUsage',
    prepare: onePrompt,
    path: (id) => `/api/prompt-registry/${id}/usage`,
    add: (board, _n, id) => done(board, 'POST', `/api/prompt-registry/${id}/record-usage`, {}),
  },
  {
    operation: 'listSandboxPresets',
    path: '/api/sandbox-policies',
    items: 'presets',
    add: posting('/api/sandbox-policies', (n) => ({ id: `listed-${n}`, name: `Preset ${n}` })),
  },
  {
    operation: 'listToolServers',
    path: '/api/tool-servers',
    items: 'servers',
    add: posting('/api/tool-servers', (n) => ({
      id: `listed-${n}`,
      displayName: `Server ${n}`,
      transport: { kind: 'stdio', command: 'server' },
    })),
  },
  {
    operation: 'listPolicies',
    path: '/api/policies?enabled=false',
    add: posting('/api/policies', (n) => ({
      type: 'block-action-type',
      name: `Policy ${n}`,
      enabled: false,
      responseAction: 'block',
      config: { actionTypes: ['merge'] },
    })),
  },
  {
    operation: 'listRegisteredAgents',
    path: '/api/agents/register?capability=listing',
    add: agent('listing'),
  },
  {
    operation: 'listAgentsByCapability',
    path: '/api/agents/register/capabilities/counting',
    add: agent('counting'),
  },
  {
    operation: 'listTrustedWorkspaces',
    path: '/api/workspace-capabilities/trusted',
    items: 'workspaces',
    idOf: ({ workspaceId }) => workspaceId,
    add: workspace('peer'),
  },
  {
    operation: 'listTrustedManifests',
    path: '/api/workspace-capabilities/manifest/trusted',
    items: 'workspaces',
    idOf: ({ workspaceId }) => workspaceId,
    add: workspace('other'),
  },
  {
    operation: 'listScoringProfiles',
    path: '/api/scoring/profiles',
    add: posting('/api/scoring/profiles', (n) => ({
      name: `${n % 2 ? 'profile' : 'Profile'} ${n}`,
      compositeMethod: 'minimum',
      scorers: [{ id: 'tests', type: 'KeywordContains', name: 'tests', weight: 1, keywords: ['test'] }],
    })),
  },
  {
    operation: 'listSharedResources',
    path: '/api/shared-resources?tag=listed',
    add: posting('/api/shared-resources', (n) => ({
      name: `Resource ${n}`,
      type: 'prompt',
      content: 'shared',
      tags: ['listed'],
      projectIds: [],
    })),
  },
  {
    operation: 'listTrackedDocuments',
    path: '/api/doc-freshness?project=list-documents',
    add: posting('/api/doc-freshness', (n) => {
      return { path: `docs/${n}.md`, type: 'runbook', maxAgeDays: 30, project: 'list-documents' };
    }),
  },
  {
    operation: 'listFreshnessAlerts',
    path: '/api/doc-freshness/alerts',
    add: ({ api }, n) =>
      api.context.trackedDocuments.create(`document_00000000000${n}`, {
        path: `old/${n}.md`,
        type: 'runbook',
        maxAgeDays: 1,
        reviewedAt: `2026-01-0${n}T00:00:00.000Z`,
      }),
  },
];
