import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
  await board.call('PUT', '/api/config/agents', { body: { agents: [agent('one')] } });
});
afterAll(() => board.close());

const agent = (type: string) => ({ type, name: type, provider: 'process', command: '/usr/bin/true' });
const rules = [{ tool: 'bash', action: '*', effect: 'deny' }];
const scorer = { id: 'words', name: 'Words', type: 'KeywordContains', keywords: ['because'] };
const manifest = { workspaceId: 'north', name: 'North', capabilities: [] };
const failure = { taskId: 'task_20260101_aaaaaa', agent: 'ant', errorMessage: 'It broke', errorType: 'runtime' };
const route = { enabled: true, rules: [], defaultAgent: 'one', fallbackOnFailure: true };
const hookAction = { type: 'webhook', url: 'https://example.org/' };

interface Resource {
  /** Makes one and returns its path; a path alone is there already. */
  at: string | { make: [path: string, body: object]; path?: (made: { id: string; role?: string }) => string };
  method: 'PATCH' | 'PUT';
  /** A whole write, or a part, with a name of its own. */
  write: (name: string) => object;
}

const resources: Record<string, Resource> = {
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
};

const pathOf = async ({ at }: Resource): Promise<string> => {
  if (typeof at === 'string') {
    return at;
  }
  const [template, body] = at.make;
  const path = template.includes('{taskId}') ? template.replace('{taskId}', (await board.createTask()).id) : template;
  const made = await board.call('POST', path, { body });
  expect([made.status, made.body.details ?? null]).toEqual([201, null]);
  return at.path?.(made.body) ?? `${path}/${made.body.id}`;
};

describe.each(Object.entries(resources))('%s', (_name, resource) => {
  it('keeps its revision when a write changes nothing, and shows itself to a stale writer', async () => {
    const path = await pathOf(resource);
    const write = async (name: string, expected?: number) => {
      const headers: Record<string, string> = expected === undefined ? {} : { 'X-Resource-Revision': String(expected) };
      const {
        status,
        headers: answered,
        body,
      } = await board.call(resource.method, path, {
        body: resource.write(name),
        headers,
      });
      return { status, body, revision: Number(answered.get('X-Resource-Revision')) };
    };

    const first = await write('first');
    expect([first.status, first.body.details ?? null, first.revision]).toEqual([200, null, expect.any(Number)]);
    expect(first.revision).toBeGreaterThan(0);
    const again = await write('first', first.revision);
    expect([again.status, again.revision]).toEqual([200, first.revision]);
    expect(again.body).toEqual(first.body);

    const second = await write('second-one', first.revision);
    expect([second.status, second.revision]).toEqual([200, first.revision + 1]);
    const stale = await write('third', first.revision);
    expect(stale).toMatchObject({
      status: 409,
      body: {
        code: 'CONFLICT',
        error: expect.any(String),
        message: stale.body.error,
        details: {
          resourceType: expect.any(String),
          resourceId: expect.any(String),
          expectedRevision: first.revision,
          currentRevision: second.revision,
        },
      },
    });
    const { current } = stale.body.details;
    expect({ ...second.body, ...current }).toEqual(second.body);
    expect(Object.keys(current).length).toBeGreaterThan(0);
  });
});

it('shows the current task to a caller with another stale revision', async () => {
  const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'a' } })).body;
  await board.call('POST', `/api/tasks/${id}/archive`);
  const { body: current } = await board.call('GET', `/api/tasks/${id}`);
  const message = expect.stringContaining('archive');
  const details = {
    resourceType: 'task',
    resourceId: id,
    location: 'archive',
    currentRevision: current.revision,
    current,
  };
  for (const refused of [
    await board.call('PATCH', `/api/tasks/${id}`, { body: { title: 'b' } }),
    await board.call('POST', `/api/tasks/${id}/archive`),
    await board.call('POST', `/api/tasks/${id}/comments`, { body: { author: 'me', text: 'x' } }),
  ]) {
    expect(refused).toMatchObject({ status: 409, body: { error: message, message, details } });
  }
  await board.call('POST', `/api/tasks/${id}/restore`);
  const stopped = await board.call('POST', `/api/tasks/${id}/time/stop`);
  expect(stopped.body.details).toMatchObject({ running: null, resourceId: id, current: { id, status: 'done' } });
});

it('is not raised by what changes nothing of a part of a task', async () => {
  const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'a', subtasks: [{ title: 's' }] } })).body;
  const commented = await board.call('POST', `/api/tasks/${id}/comments`, { body: { author: 'me', text: 'x' } });
  const [comment] = commented.body.comments;
  const [subtask] = commented.body.subtasks;
  const changes: [string, object][] = [
    [`/api/tasks/${id}/comments/${comment.id}`, { text: 'x' }],
    [`/api/tasks/${id}/subtasks/${subtask.id}`, { title: 's', completed: false }],
    [`/api/tasks/${id}`, { status: 'todo', project: null }],
    [`/api/tasks/${id}`, {}],
  ];
  for (const [path, body] of changes) {
    const { status, body: task } = await board.call('PATCH', path, { body });
    expect([path, status, task]).toEqual([path, 200, commented.body]);
  }
  const activity = await board.call('GET', `/api/activity?taskId=${id}&type=task_updated`);
  expect(activity.body).toEqual([]);
});
