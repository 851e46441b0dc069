import { trackerProvider } from '../../../contracts/integrations/trackers/tracker';
import { eventually } from '../../../platform/testing/eventually';
import { jiraAccount } from '../../support/forges/jira-server';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';
import {
  commentOf,
  creationOf,
  startTrackerServers,
  type TrackerServers,
  trackerTokens,
} from '../../support/trackers/tracker-servers';

let stack: Stack;
let servers: TrackerServers;
const variables = { github: 'GITHUB_TRACKED', gitlab: 'GITLAB_TRACKED', jira: 'JIRA_TRACKED' };
const root = '/api/integrations/trackers';
const all = trackerProvider.options;
type Provider = (typeof all)[number];

beforeAll(async () => {
  for (const provider of all) {
    process.env[variables[provider]] = trackerTokens[provider];
  }
  [servers, stack] = await Promise.all([
    startTrackerServers(),
    startStack({ BOARD_FORGE_ALLOW_PRIVATE: 'true', BOARD_RETRY_BACKOFF_MS: '50' }),
  ]);
  servers.github.state.milestones = [{ number: 4, title: 'Spring' }];
});
afterAll(async () => {
  await Promise.all([stack.close(), servers.close()]);
  delete process.env.GITHUB_TRACKED;
  delete process.env.GITLAB_TRACKED;
  delete process.env.JIRA_TRACKED;
});

const projectOf = (provider: Provider): string => (provider === 'jira' ? 'SHOP' : 'acme/shop');
const connection = (provider: Provider, changed: object = {}) => ({
  ...{ provider, baseUrl: servers.server(provider).baseUrl, credential: `env:${variables[provider]}` },
  ...(provider === 'jira' ? { account: jiraAccount } : {}),
  ...changed,
});
const fieldsOf = { github: ['title', 'body'], gitlab: ['title', 'description'], jira: ['summary', 'description'] };
const typeOf = { github: 'Issue', gitlab: 'issue', jira: 'Task' };
const profile = (provider: Provider, changed: object = {}) => ({
  ...{ name: `Work of ${provider}`, provider, defaultWorkItemType: typeOf[provider] },
  defaultProjectPath: projectOf(provider),
  fieldMappings: [
    { trackerFieldId: fieldsOf[provider][0], source: 'title', required: true },
    { trackerFieldId: fieldsOf[provider][1], source: 'description' },
  ],
  backlinkFieldId: fieldsOf[provider][1],
  ...changed,
});
const url = (provider: Provider, verb: string) => `${root}/profiles/${provider}-work/${verb}`;
const aTask = async (title: string): Promise<string> =>
  (await stack.call.createTask({ title, description: 'It rings twice.' })).id as string;
const create = (provider: Provider, taskId: string, headers?: Record<string, string>) =>
  stack.call.post(url(provider, 'create'), { taskId, approvedBy: 'ada' }, headers);
const taskOf = (taskId: string) => stack.call.ok('GET', `/api/tasks/${taskId}`);
const refused = (status: number, code: string) => ({ status, body: { code } });

describe.each(all)('the tracker %s', (provider) => {
  const put = (changed: object = {}) =>
    stack.call.send('PUT', `${root}/profiles/${provider}-work`, profile(provider, changed));

  it('is connected by the name of a credential, which is never shown', async () => {
    expect(await stack.call.post(`${root}/introspect`, { provider, project: projectOf(provider) })).toMatchObject(
      refused(409, 'TRACKER_NOT_CONFIGURED'),
    );
    expect(await stack.call.ok('PUT', `${root}/connection`, connection(provider))).toMatchObject({
      ...{ provider, configured: true, credential: `env:${variables[provider]}`, revision: 1 },
    });
    const { connections } = await stack.call.ok('GET', `${root}/connection`);
    expect(connections).toHaveLength(3);
    expect(JSON.stringify(connections)).not.toContain(trackerTokens[provider]);
  });

  it('is introspected before a profile of it can be stored', async () => {
    expect(await put()).toMatchObject(refused(409, 'TRACKER_SCHEMA_MISSING'));
    const schema = await stack.call.ok('POST', `${root}/introspect`, { provider, project: projectOf(provider) });
    expect(schema).toMatchObject({ provider, project: projectOf(provider), capabilities: { create: true } });
    expect(JSON.stringify(schema)).not.toContain(trackerTokens[provider]);
    expect(await stack.call.ok('GET', `${root}/schema?provider=${provider}`)).toEqual(schema);
    expect(await stack.call.ok('GET', `${root}/schema`)).toEqual(schema);
  });

  it('refuses a profile that its schema does not allow, with the path of each problem', async () => {
    const answer = await put({
      ...{ defaultWorkItemType: 'Epic', defaultAreaPath: 'Nowhere', backlinkFieldId: 'nowhere' },
      fieldMappings: [{ trackerFieldId: 'nowhere', source: 'title' }],
    });
    expect(answer).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    expect(answer.body.details.issues.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining([
        'defaultWorkItemType',
        'defaultAreaPath',
        'fieldMappings.0.trackerFieldId',
        'backlinkFieldId',
      ]),
    );
    expect(await put({ fieldMappings: [{ trackerFieldId: fieldsOf[provider][1], source: 'title' }] })).toMatchObject({
      ...refused(400, 'VALIDATION_ERROR'),
    });
    expect(await put()).toMatchObject({ status: 200, body: { id: `${provider}-work`, revision: 1, enabled: true } });
    expect(await stack.call.post(url(provider, 'validate'))).toMatchObject({ status: 200, body: { valid: true } });
  });

  it('is sent nothing by a dry run', async () => {
    const taskId = await aTask('Dry');
    const before = servers.server(provider).requests.length;
    const result = await stack.call.ok('POST', url(provider, 'dry-run-create'), { taskId });
    expect(result).toMatchObject({ externalWrite: false, errors: [], payload: { workItemType: typeOf[provider] } });
    expect(result.payload.fields[fieldsOf[provider][1]!]).toBe(`It rings twice.\n\nRunboard task ${taskId}`);
    expect(servers.server(provider).requests.length).toBe(before);
    expect((await taskOf(taskId)).externalWorkItems).toBeUndefined();
  });

  it('gets the work item of a task once, which the task names', async () => {
    const taskId = await aTask('Made once');
    expect(await stack.call.post(url(provider, 'create'), { taskId })).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    const headers = { 'Idempotency-Key': `once-${provider}` };
    const made = await create(provider, taskId, headers);
    expect(made).toMatchObject({
      status: 201,
      body: { taskId, workItem: { provider, origin: 'created', approvedBy: 'ada', profileId: `${provider}-work` } },
    });
    expect((await taskOf(taskId)).externalWorkItems).toEqual([made.body.workItem]);
    expect((await create(provider, taskId, headers)).body).toEqual(made.body);
    expect(await create(provider, taskId)).toMatchObject({
      ...{ status: 409, body: { code: 'WORK_ITEM_EXISTS', details: { workItem: { id: made.body.workItem.id } } } },
    });
    expect(servers.titles(provider).filter((title) => title === 'Made once')).toHaveLength(1);
  });

  it('gets one work item although the response of its creation is lost', async () => {
    const taskId = await aTask('Lost once');
    servers.server(provider).fail({ on: creationOf[provider], answer: 'lost' });
    expect(await create(provider, taskId)).toMatchObject({ status: 201 });
    expect(servers.titles(provider).filter((title) => title === 'Lost once')).toHaveLength(1);
    expect((await taskOf(taskId)).externalWorkItems).toHaveLength(1);
  });

  it('gets one work item although it asks to wait, and fails, before it creates it', async () => {
    const taskId = await aTask('Slowed down');
    const limited = { status: 429, headers: { 'retry-after': '1' }, body: { message: 'Slow down.' } };
    servers.server(provider).fail({ on: creationOf[provider], answer: limited });
    servers.server(provider).fail({ on: creationOf[provider], answer: { status: 503, body: {} } });
    expect(await create(provider, taskId)).toMatchObject({ status: 201 });
    expect(servers.titles(provider).filter((title) => title === 'Slowed down')).toHaveLength(1);
  });

  it('gets one work item of ten requests at once', async () => {
    const taskId = await aTask('Ten at once');
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(provider, taskId)));
    expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect(servers.titles(provider).filter((title) => title === 'Ten at once')).toHaveLength(1);
    expect((await taskOf(taskId)).externalWorkItems).toHaveLength(1);
  });

  it('has its refusal reported, after which the same task can be tried again', async () => {
    const taskId = await aTask('Refused');
    servers.server(provider).fail({ on: creationOf[provider], answer: { status: 400, body: { message: 'No.' } } });
    const answer = await create(provider, taskId);
    expect(answer).toMatchObject(refused(409, 'TRACKER_INVALID'));
    expect(answer.body.message).toContain('No.');
    expect((await taskOf(taskId)).externalWorkItems).toBeUndefined();
    expect(await create(provider, taskId)).toMatchObject({ status: 201 });
  });

  it('has a work item brought in as one task, or to the task that is named', async () => {
    const workItemId = servers.open(provider, '<b>Brought</b> in');
    const [first, second] = [
      await stack.call.ok('POST', url(provider, 'import'), { workItemId }),
      await stack.call.ok('POST', url(provider, 'import'), { workItemId }),
    ];
    expect(first).toMatchObject({ created: true, workItem: { id: workItemId, origin: 'imported' } });
    expect(second).toEqual({ ...first, created: false });
    expect(await taskOf(first.taskId)).toMatchObject({
      ...{ title: 'Brought in', createdBy: 'system:trackers', externalWorkItems: [first.workItem] },
    });
    const taskId = await aTask('Mine');
    expect(await stack.call.post(url(provider, 'import'), { workItemId, taskId })).toMatchObject({
      ...{ status: 409, body: { code: 'WORK_ITEM_LINKED', details: { taskId: first.taskId } } },
    });
    const another = servers.open(provider, 'Another');
    expect(await stack.call.ok('POST', url(provider, 'import'), { workItemId: another, taskId })).toMatchObject({
      ...{ taskId, created: false },
    });
    expect((await taskOf(taskId)).externalWorkItems).toMatchObject([{ id: another }]);
  });

  it('has no task for a work item that is not there, and has one once it is', async () => {
    const count = servers.titles(provider).length;
    const workItemId = provider === 'jira' ? `SHOP-${count + 1}` : String(count + 1);
    expect(await stack.call.post(url(provider, 'import'), { workItemId })).toMatchObject(
      refused(404, 'TRACKER_NOT_FOUND'),
    );
    expect(servers.open(provider, 'Late')).toBe(workItemId);
    expect(await stack.call.ok('POST', url(provider, 'import'), { workItemId })).toMatchObject({ created: true });
    const foreign = provider === 'jira' ? '12' : 'SHOP-12';
    expect(await stack.call.post(url(provider, 'import'), { workItemId: foreign })).toMatchObject(
      refused(400, 'VALIDATION_ERROR'),
    );
  });

  it('has its comments and those of the task at both sides, each once', async () => {
    const taskId = await aTask('Discussed');
    await stack.call.ok('POST', `/api/tasks/${taskId}/comments`, { text: 'Before' });
    const { workItem } = (await create(provider, taskId)).body;
    const sync = () => stack.call.ok('POST', url(provider, 'sync-comments'), { taskId, workItemId: workItem.id });
    servers.comment(provider, workItem.id, 'Theirs');
    await stack.call.ok('POST', `/api/tasks/${taskId}/comments`, { text: 'Ours 1' });
    await stack.call.ok('POST', `/api/tasks/${taskId}/comments`, { text: 'Ours 2' });
    servers.server(provider).fail({ on: commentOf[provider], answer: 'lost' });
    let total = { imported: 0, sent: 0 };
    await eventually(async () => {
      const { imported, sent } = await sync();
      total = { imported: total.imported + imported, sent: total.sent + sent };
      expect(total).toEqual({ imported: 1, sent: 2 });
    });
    expect(await sync()).toEqual({ taskId, workItemId: workItem.id, imported: 0, sent: 0 });
    const texts = (await stack.call.ok('GET', `/api/tasks/${taskId}/comments`)).map(
      ({ text }: { text: string }) => text,
    );
    expect(texts.sort()).toEqual(['Before', 'Ours 1', 'Ours 2', 'Theirs']);
    const there = servers.comments(provider, workItem.id).map((body) => /Ours \d|Theirs|Before/.exec(body)?.[0]);
    expect(there.sort()).toEqual(['Ours 1', 'Ours 2', 'Theirs']);
  });

  it('has every operation in the audits, with nothing of what was sent', async () => {
    const { audits } = await stack.call.ok('GET', `${root}/audits?limit=200`);
    const own = audits.filter((one: { provider: string }) => one.provider === provider);
    const outcomes = new Set(own.map(({ operation, outcome }: Record<string, string>) => `${operation} ${outcome}`));
    expect([...outcomes].sort()).toEqual(
      expect.arrayContaining([
        'comments done',
        'create TRACKER_INVALID',
        'create done',
        'import done',
        'introspect done',
      ]),
    );
    expect(own.find(({ operation }: { operation: string }) => operation === 'create')).toMatchObject({
      approvedBy: 'ada',
    });
    expect(JSON.stringify(audits)).not.toMatch(/rings twice|Made once|Theirs/);
  });
});

describe('what is written to a tracker', () => {
  it('is refused by the rules, and done once they allow it', async () => {
    const inProject = async (title: string): Promise<string> =>
      (await stack.call.createTask({ title, project: 'ruled' })).id as string;
    const linked = await inProject('Ruled later');
    const { id: workItemId } = (await create('github', linked)).body.workItem;
    await stack.call.ok('POST', `/api/tasks/${linked}/comments`, { text: 'Held back' });
    const policy = await stack.call.ok('POST', '/api/policies', {
      ...{ name: 'A rule', scope: { projects: ['ruled'] }, rules: [{ action: 'external-message', effect: 'deny' }] },
    });
    const taskId = await inProject('Ruled out');
    const sync = () => stack.call.post(url('github', 'sync-comments'), { taskId: linked, workItemId });
    expect(await create('github', taskId)).toMatchObject(refused(403, 'POLICY_BLOCKED'));
    // The worker's tasks may be behind a comment that was just written.
    await eventually(async () => expect(await sync()).toMatchObject(refused(403, 'POLICY_BLOCKED')));
    expect(servers.titles('github')).not.toContain('Ruled out');
    expect(servers.comments('github', workItemId)).toEqual([]);
    await stack.call.ok('DELETE', `/api/policies/${policy.id}`);
    expect(await create('github', taskId)).toMatchObject({ status: 201 });
    expect(await sync()).toMatchObject({ status: 200, body: { sent: 1 } });
  });

  it('waits for an approval where the rules ask for one, which is of that work item alone', async () => {
    const taskId = (await stack.call.createTask({ title: 'Approved', project: 'asking' })).id as string;
    await stack.call.ok('POST', '/api/policies', {
      ...{ name: 'Ask', scope: { projects: ['asking'] }, type: 'require-approval' },
    });
    const asked = await create('github', taskId);
    expect(asked).toMatchObject(refused(409, 'APPROVAL_REQUIRED'));
    await stack.call.ok('POST', `/api/agents/permissions/approvals/${asked.body.details.approval.id}`, {
      decision: 'approved',
    });
    expect(await create('github', taskId)).toMatchObject({ status: 201 });
    expect(servers.titles('github').filter((title) => title === 'Approved')).toHaveLength(1);
  });

  it('is refused for a task that is gone or archived, and by a profile that is disabled or gone', async () => {
    const taskId = await aTask('Somewhere');
    expect(await create('gitlab', 'task_20260101_nowhere')).toMatchObject(refused(404, 'NOT_FOUND'));
    const none = `${root}/profiles/none`;
    expect(await stack.call.post(`${none}/create`, { taskId, approvedBy: 'ada' })).toMatchObject({ status: 404 });
    await stack.call.ok('PUT', `${root}/profiles/off`, profile('gitlab', { enabled: false }));
    expect(await stack.call.post(`${root}/profiles/off/create`, { taskId, approvedBy: 'ada' })).toMatchObject(
      refused(409, 'TRACKER_PROFILE_DISABLED'),
    );
    expect(await stack.call.send('DELETE', `${root}/profiles/off`)).toMatchObject({ status: 204 });
    expect(await stack.call.send('DELETE', `${root}/profiles/off`)).toMatchObject({ status: 404 });
  });

  it('is not created where the issues of the project are synchronised with tasks', async () => {
    await stack.call.addRepository('shop', await aRepository(stack.dir));
    const { baseUrl } = servers.github;
    const forge = { kind: 'github', repository: 'acme/shop', baseUrl, credential: 'env:GITHUB_TRACKED' };
    await stack.call.ok('PATCH', '/api/config/repos/shop', { forge });
    const config = { repo: 'shop', syncMode: 'outbound', pollIntervalMs: 86_400_000, comments: false };
    await stack.call.ok('PUT', '/api/github/sync/config', { ...config, enabled: true });
    const taskId = await aTask('Synchronised');
    const workItemId = servers.open('github', 'Theirs');
    expect(await create('github', taskId)).toMatchObject(refused(409, 'ISSUE_SYNC_ACTIVE'));
    expect(await stack.call.post(url('github', 'import'), { workItemId })).toMatchObject(
      refused(409, 'ISSUE_SYNC_ACTIVE'),
    );
    await stack.call.ok('PUT', '/api/github/sync/config', { ...config, enabled: false });
    expect(await create('github', taskId)).toMatchObject({ status: 201 });
  });

  it('is refused without the credential, and with another address until that is introspected', async () => {
    delete process.env.GITLAB_TRACKED;
    const taskId = await aTask('No credential');
    expect(await create('gitlab', taskId)).toMatchObject(refused(409, 'TRACKER_CREDENTIAL_MISSING'));
    process.env.GITLAB_TRACKED = trackerTokens.gitlab;
    await stack.call.ok('PUT', `${root}/connection`, connection('gitlab', { baseUrl: 'https://gitlab.invalid' }));
    expect(await create('gitlab', taskId)).toMatchObject(refused(409, 'TRACKER_SCHEMA_MISSING'));
    await stack.call.ok('PUT', `${root}/connection`, connection('gitlab'));
    expect(await create('gitlab', taskId)).toMatchObject({ status: 201 });
  });
});

describe('requests that cannot be served', () => {
  const jira = { provider: 'jira', baseUrl: 'https://acme.example', account: 'a@b.example', credential: 'env:JIRA_X' };
  const mapping = { trackerFieldId: 'title', source: 'title' };

  it.each<[string, string, string, object, string]>([
    ['another secret', 'PUT', 'connection', { ...jira, credential: 'env:BOARD_ADMIN_KEY' }, 'credential'],
    ['a secret itself', 'PUT', 'connection', { ...jira, credential: 'hunter2' }, 'credential'],
    ['a password in the address', 'PUT', 'connection', { ...jira, baseUrl: 'https://a:b@acme.example' }, 'baseUrl'],
    ['another protocol', 'PUT', 'connection', { ...jira, baseUrl: 'file:///etc/passwd' }, 'baseUrl'],
    ['no address of Jira', 'PUT', 'connection', { ...jira, baseUrl: undefined }, 'baseUrl'],
    ['no account of Jira', 'PUT', 'connection', { ...jira, account: undefined }, 'account'],
    ['an account with a header', 'PUT', 'connection', { ...jira, account: 'a:b\r\nX: y' }, 'account'],
    ['another provider', 'PUT', 'connection', { ...jira, provider: '__proto__' }, 'provider'],
    ['a path as the project', 'POST', 'introspect', { provider: 'github', project: '../user' }, 'project'],
    ['a query as the project', 'POST', 'introspect', { provider: 'jira', project: 'A" OR "1' }, 'project'],
    [
      'a prototype',
      'PUT',
      'profiles/x',
      profile('github', { fieldMappings: [{ ...mapping, trackerFieldId: '__proto__' }] }),
      'fieldMappings.0.trackerFieldId',
    ],
    [
      'a literal of nothing',
      'PUT',
      'profiles/x',
      profile('github', { fieldMappings: [{ ...mapping, source: 'literal' }] }),
      'fieldMappings.0.literalValue',
    ],
    ['another id', 'PUT', 'profiles/x', profile('github', { id: 'y' }), 'id'],
    ['an id of a work item', 'POST', 'profiles/github-work/import', { workItemId: '../1' }, 'workItemId'],
  ])('with %s are refused at the field', async (_case, method, path, body, field) => {
    const answer = await stack.call.send(method, `${root}/${path}`, body);
    expect(answer).toMatchObject(refused(400, 'VALIDATION_ERROR'));
    expect(answer.body.details.issues).toContainEqual(expect.objectContaining({ path: field }));
  });

  it('report that the tracker asks to wait, and that a project is not there', async () => {
    const limited = { status: 429, headers: { 'retry-after': '9' }, body: {} };
    servers.gitlab.fail({ on: /./, answer: limited });
    const introspect = (project: string) => stack.call.post(`${root}/introspect`, { provider: 'gitlab', project });
    expect(await introspect('acme/shop')).toMatchObject(refused(429, 'TRACKER_RATE_LIMITED'));
    expect(await introspect('acme/shop')).toMatchObject({ status: 200 });
    expect(await introspect('acme/none')).toMatchObject(refused(404, 'TRACKER_NOT_FOUND'));
    process.env.GITLAB_TRACKED = 'wrong';
    expect(await introspect('acme/shop')).toMatchObject(refused(409, 'TRACKER_UNAUTHORIZED'));
    process.env.GITLAB_TRACKED = trackerTokens.gitlab;
  });

  it('report a work item that was imported before its creation was known', async () => {
    const taskId = await aTask('Taken');
    servers.github.fail({ on: creationOf.github, answer: 'lost' });
    servers.github.fail({ on: /^GET .*\/issues$/, answer: { status: 429, headers: { 'retry-after': '3' }, body: {} } });
    const creating = create('github', taskId);
    const workItemId = await eventually(() => {
      const made = servers.github.state.issues.find(({ title }) => title === 'Taken');
      expect(made).toBeDefined();
      return Promise.resolve(String(made?.number));
    });
    const imported = await stack.call.ok('POST', url('github', 'import'), { workItemId });
    expect(await creating).toMatchObject({
      ...{ status: 409, body: { code: 'WORK_ITEM_LINKED', details: { taskId: imported.taskId } } },
    });
    expect((await taskOf(taskId)).externalWorkItems).toBeUndefined();
  });
});
