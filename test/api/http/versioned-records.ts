export const agent = (type: string) => ({ type, name: type, provider: 'process', command: '/usr/bin/true' });
const rules = [{ tool: 'bash', action: '*', effect: 'deny' }];
const scorer = { id: 'words', name: 'Words', type: 'KeywordContains', keywords: ['because'] };
const manifest = { workspaceId: 'north', name: 'North', capabilities: [] };
const failure = { taskId: 'task_20260101_aaaaaa', agent: 'ant', errorMessage: 'It broke', errorType: 'runtime' };
const route = { enabled: true, rules: [], defaultAgent: 'one', fallbackOnFailure: true };
const hookAction = { type: 'webhook', url: 'https://example.org/' };

export interface VersionedRecord {
  /** Makes one and returns its path; a path alone is there already. */
  at: string | { make: [path: string, body: object]; path?: (made: { id: string; role?: string }) => string };
  method: 'PATCH' | 'PUT';
  /** A whole write, or a part, with a name of its own. */
  write: (name: string) => object;
}

/** Records with a revision, each of which is written whole or in part by one operation. */
export const versionedRecords: Record<string, VersionedRecord> = {
  task: { at: { make: ['/api/tasks', { title: 'a' }] }, method: 'PATCH', write: (title) => ({ title }) },
  'task of the backlog': {
    at: { make: ['/api/backlog', { title: 'a' }] },
    method: 'PATCH',
    write: (plan) => ({ plan, lessonTags: ['a'] }),
  },
  hook: {
    at: { make: ['/api/hooks', { name: 'a', event: 'task.done', action: hookAction }] },
    method: 'PATCH',
    write: (name) => ({ name, filter: { type: 'bug' } }),
  },
  prompt: {
    at: { make: ['/api/prompt-registry', { name: 'a', category: 'tool', content: 'x' }] },
    method: 'PATCH',
    write: (content) => ({ content, changelog: content }),
  },
  'transition hooks': {
    at: '/api/settings/transition-hooks',
    method: 'PUT',
    write: (name) => ({ enabled: false, rules: [{ id: 'one', name, from: '*', to: 'done', gates: ['require-plan'] }] }),
  },
  template: {
    at: { make: ['/api/templates', { name: 'a', taskDefaults: {} }] },
    method: 'PATCH',
    write: (description) => ({ description }),
  },
  'work product': {
    at: {
      make: ['/api/tasks/{taskId}/work-products', { title: 'a', content: 'x' }],
      path: ({ id }) => `/api/work-products/${id}`,
    },
    method: 'PATCH',
    write: (content) => ({ content, changelog: content }),
  },
  project: {
    at: { make: ['/api/projects', { label: 'Atlas' }] },
    method: 'PATCH',
    write: (description) => ({ description }),
  },
  sprint: {
    at: { make: ['/api/sprints', { label: 'Seven' }] },
    method: 'PATCH',
    write: (description) => ({ description }),
  },
  'task type': { at: { make: ['/api/task-types', { label: 'Chore' }] }, method: 'PATCH', write: (icon) => ({ icon }) },
  'tool policy': {
    at: '/api/tool-policies/developer',
    method: 'PUT',
    write: (description) => ({ allowed: ['*'], denied: [], description }),
  },
  policy: {
    at: { make: ['/api/policies', { name: 'a', scope: {}, rules }] },
    method: 'PUT',
    write: (name) => ({ name, scope: {}, rules }),
  },
  profile: {
    at: '/api/config/profiles/careful',
    method: 'PUT',
    write: (name) => ({ name, agent: 'one', instructions: 'x' }),
  },
  'sandbox preset': {
    at: { make: ['/api/sandbox-policies', { name: 'Tight' }] },
    method: 'PUT',
    write: (name) => ({ name }),
  },
  'tool server': {
    at: { make: ['/api/tool-servers', { displayName: 'a', transport: { kind: 'stdio', command: 'server' } }] },
    method: 'PUT',
    write: (displayName) => ({ displayName, transport: { kind: 'stdio', command: 'server' } }),
  },
  'communication adapter': {
    at: '/api/integrations/communication/adapters/noted',
    method: 'PUT',
    write: (displayName) => ({ kind: 'slack', displayName }),
  },
  'shared resource': {
    at: { make: ['/api/shared-resources', { name: 'a', type: 'config', content: 'x' }] },
    method: 'PATCH',
    write: (content) => ({ content }),
  },
  'tracked document': {
    at: { make: ['/api/doc-freshness', { path: 'a.md', type: 'guide', maxAgeDays: 3 }] },
    method: 'PATCH',
    write: (title) => ({ title }),
  },
  'scoring profile': {
    at: { make: ['/api/scoring/profiles', { name: 'a', compositeMethod: 'weightedAverage', scorers: [scorer] }] },
    method: 'PUT',
    write: (name) => ({ name, compositeMethod: 'weightedAverage', scorers: [scorer] }),
  },
  'error analysis': {
    at: { make: ['/api/errors/submit', failure], path: ({ id }) => `/api/errors/${id}` },
    method: 'PATCH',
    write: (rootCause) => ({ rootCause, tags: ['a'] }),
  },
  'agent permission': {
    at: '/api/agents/permissions/ant',
    method: 'PATCH',
    write: (name) => ({ restrictions: [name], canDelegate: true }),
  },
  'feature settings': {
    at: '/api/settings/features',
    method: 'PATCH',
    write: (name) => ({ watcher: { maxContinuationsPerRun: name.length } }),
  },
  'agent configuration': {
    at: '/api/config/agents',
    method: 'PUT',
    write: (name) => ({ agents: [agent('one'), agent(name)] }),
  },
  'routing configuration': {
    at: '/api/agents/routing',
    method: 'PUT',
    write: (name) => ({ ...route, maxRetries: name.length % 3 }),
  },
  'team roster': {
    at: '/api/config/team-roster',
    method: 'PUT',
    write: (name) => ({ name, members: [{ id: 'a', name: 'A', agent: 'one', match: {} }], reviewers: [] }),
  },
  'workspace manifest': {
    at: '/api/workspace-capabilities/manifest',
    method: 'PUT',
    write: (name) => ({ ...manifest, name }),
  },
  'report brand': {
    at: '/api/reports/brand',
    method: 'PUT',
    write: (name) => ({ name, color: '#102030', footer: 'x' }),
  },
  'tracker connection': {
    at: '/api/integrations/trackers/connection',
    method: 'PUT',
    write: (name) => ({
      provider: 'github',
      credential: `env:GITHUB_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`,
    }),
  },
};
