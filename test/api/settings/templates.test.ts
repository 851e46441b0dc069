import { anAttempt } from '../../support/factories/records';
import { agentKey, type ApiUnderTest, type CallOptions, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const call = (method: string, rest = '', options: CallOptions = {}) =>
  board.call(method, `/api/templates${rest}`, options);
const bug = {
  name: 'Bug: {{component}}',
  description: 'For what is broken',
  category: 'engineering',
  taskDefaults: { type: 'bug', priority: 'high', project: 'web', descriptionTemplate: '# {{component}}', agent: 'bee' },
  subtaskTemplates: [{ title: 'Reproduce {{component}}', order: 0, acceptanceCriteria: ['There is a test'] }],
  blueprint: [
    { refId: 'find', title: 'Find it', taskDefaults: { type: 'research' } },
    { refId: 'fix', title: 'Fix it', blockedByRefs: ['find'] },
  ],
  launch: { agent: 'bee', profileId: 'careful' },
};
const create = async (fields: object = {}) => (await call('POST', '', { body: { ...bug, ...fields } })).body;

it('is made, read, listed by name, and deleted', async () => {
  const made = await call('POST', '', { body: bug });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    ...bug,
    id: expect.stringMatching(/^template_[0-9a-f]{12}$/),
    version: 1,
    created: expect.any(String),
    updated: made.body.created,
  });
  const { id } = made.body;
  expect((await call('GET', `/${id}`)).body).toEqual(made.body);
  const first = await create({ name: 'A first one' });
  const names = (await call('GET')).body.map(({ name }: { name: string }) => name);
  expect(names.indexOf(first.name)).toBeLessThan(names.indexOf(bug.name));

  expect(await call('DELETE', `/${id}`)).toMatchObject({ status: 204 });
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    expect(await call(method, `/${id}`, { body: method === 'PATCH' ? {} : undefined })).toMatchObject({ status: 404 });
  }
});

it('has a version that grows with every change', async () => {
  const { id } = await create();
  const { body, headers } = await call('PATCH', `/${id}`, {
    body: { name: 'Bug', taskDefaults: { type: 'bug' }, category: null },
  });
  const { category: _category, ...rest } = bug;
  expect(body).toMatchObject({ ...rest, id, name: 'Bug', taskDefaults: { type: 'bug' }, version: 2 });
  expect(body).not.toHaveProperty('category');
  expect(body.taskDefaults).toEqual({ type: 'bug' });
  expect(headers.get('ETag')).toBe(`"templates:${id}:2"`);
  expect((await call('GET', `/${id}`)).body).toEqual(body);
});

it('is changed by exactly one of several writers with the same version, and by all who state none', async () => {
  const { id } = await create();
  const stated = Array.from({ length: 5 }, () => call('PATCH', `/${id}`, { body: { name: 'x', expectedRevision: 1 } }));
  const statuses = (await Promise.all(stated)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 409, 409, 409, 409]);
  const headers = { 'If-Match': `"templates:${id}:1"` };
  for (const method of ['PATCH', 'DELETE']) {
    expect(await call(method, `/${id}`, { headers, body: method === 'PATCH' ? {} : undefined })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', details: { currentRevision: 2, current: { id, version: 2 } } },
    });
  }
  await Promise.all(['a', 'b', 'c'].map((name) => call('PATCH', `/${id}`, { body: { name } })));
  expect((await call('GET', `/${id}`)).body.version).toBe(5);
});

const task = { refId: 'a', title: 'a' };
it.each<[string, object, string]>([
  ['no name', { name: undefined }, 'name'],
  ['a name of nothing but tags', { name: '<i></i>' }, 'name'],
  ['no defaults', { taskDefaults: undefined }, 'taskDefaults'],
  ['a priority that is none', { taskDefaults: { priority: 'soon' } }, 'taskDefaults.priority'],
  ['defaults that are none', { taskDefaults: { status: 'done' } }, 'taskDefaults.status'],
  ['a subtask without a title', { subtaskTemplates: [{ title: '<b>' }] }, 'subtaskTemplates.0.title'],
  ['two tasks with one reference', { blueprint: [task, task] }, 'blueprint.1.refId'],
  ['a task that waits for none', { blueprint: [{ ...task, blockedByRefs: ['b'] }] }, 'blueprint.0.blockedByRefs.0'],
  ['a task that waits for itself', { blueprint: [{ ...task, blockedByRefs: ['a'] }] }, 'blueprint'],
  [
    'tasks that wait for each other',
    {
      blueprint: [
        { ...task, blockedByRefs: ['b'] },
        { refId: 'b', title: 'b', blockedByRefs: ['a'] },
      ],
    },
    'blueprint',
  ],
  ['a field that is none', { mood: 'good' }, 'mood'],
  ['a version', { version: 7 }, 'version'],
])('is refused with %s by the path of the field', async (_case, fields, path) => {
  const refused = await call('POST', '', { body: { ...bug, ...fields } });
  expect(refused.status).toBe(400);
  expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
});

it('has no tags in its names and titles', async () => {
  const made = await create({
    name: '<b>Bug</b>',
    subtaskTemplates: [{ title: '<i>one</i>' }],
    blueprint: [{ refId: 'a', title: '<u>two</u>', subtaskTemplates: [{ title: '<s>three</s>' }] }],
  });
  expect(made).toMatchObject({
    name: 'Bug',
    subtaskTemplates: [{ title: 'one' }],
    blueprint: [{ title: 'two', subtaskTemplates: [{ title: 'three' }] }],
  });
});

it('needs the permission for settings', async () => {
  expect(await call('POST', '', { body: bug, key: agentKey })).toMatchObject({ status: 403 });
  expect(await call('POST', '', { body: bug, key: readKey })).toMatchObject({ status: 403 });
  expect(await call('GET', '', { key: readKey })).toMatchObject({ status: 200 });
  expect(await call('GET', '', { key: agentKey })).toMatchObject({ status: 403 });
});

describe('a template that was applied', () => {
  const apply = (taskId: string, body: object, key?: string) =>
    board.call('POST', `/api/tasks/${taskId}/apply-template`, { body, ...(key && { key }) });

  it('is noted, and changes nothing of the task', async () => {
    const [before, { id: templateId }] = [await board.createTask(), await create()];
    const application = { templateId, templateName: 'Bug', fieldsChanged: ['type', 'priority'] };
    expect(await apply(before.id, application, agentKey)).toMatchObject({ status: 200, body: { success: true } });
    expect((await board.call('GET', `/api/tasks/${before.id}`)).body).toEqual(before);
  });

  it('exists, and so does the task', async () => {
    const [{ id }, { id: templateId }] = [await board.createTask(), await create()];
    expect(await apply(id, { templateId: 'template_000000000000' })).toMatchObject({
      status: 404,
      body: { details: { resource: 'template' } },
    });
    expect(await apply('task_20260101_nobody', { templateId })).toMatchObject({
      status: 404,
      body: { details: { resource: 'task' } },
    });
    expect(await apply(id, {})).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'templateId' }] } } });
    expect(await apply(id, { templateId }, readKey)).toMatchObject({ status: 403 });
  });
});

describe('a template from a run', () => {
  const distill = (body: object) => call('POST', '/distill-from-run', { body });
  const aRun = async (id: string, fields: object = {}) => {
    const task = await board.createTask({
      title: 'Fix the parser',
      description: '# {{component}}',
      type: 'bug',
      priority: 'high',
      project: 'web',
      subtasks: [{ title: 'Reproduce', completed: true, acceptanceCriteria: ['There is a test'] }, { title: 'Fix' }],
    } as object);
    const request = { agent: 'bee', profileId: 'careful', commitPolicy: 'allowed' as const };
    await board.api.context.attempts.create(
      anAttempt(id, { taskId: task.id, agent: 'bee', state: 'ended', request, ...fields }),
    );
    return task;
  };

  it('is a draft of its task and its launch, with steps that are open', async () => {
    const runId = 'attempt_distilled0';
    const { id } = await aRun(runId);
    const made = await distill({ runId });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^template_[0-9a-f]{12}$/),
      name: 'Fix the parser',
      description: `Distilled from the run ${runId} on the task ${id}`,
      category: 'draft',
      taskDefaults: {
        ...{ type: 'bug', priority: 'high', project: 'web' },
        ...{ descriptionTemplate: '# {{component}}', agent: 'bee' },
      },
      subtaskTemplates: [
        { title: 'Reproduce', order: 0, acceptanceCriteria: ['There is a test'] },
        { title: 'Fix', order: 1 },
      ],
      launch: { agent: 'bee', profileId: 'careful' },
      ...{ version: 1, created: expect.any(String), updated: expect.any(String) },
    });
    expect((await call('GET', `/${made.body.id}`)).body).toEqual(made.body);
    expect((await distill({ runId, name: 'Parser: {{component}}' })).body.name).toBe('Parser: {{component}}');
    const key = { 'Idempotency-Key': 'distilled-once' };
    const [first, again] = [
      await call('POST', '/distill-from-run', { body: { runId }, headers: key }),
      await call('POST', '/distill-from-run', { body: { runId }, headers: key }),
    ];
    expect(again.body).toEqual(first.body);
  });

  it('is refused for a run that is absent or has not ended, and for a task that is too long', async () => {
    await aRun('attempt_running000', { state: 'running' });
    expect(await distill({ runId: 'attempt_running000' })).toMatchObject({
      status: 409,
      body: { details: { state: 'running' } },
    });
    expect((await distill({ runId: 'attempt_absent0000' })).status).toBe(404);
    expect((await distill({ runId: 'run_1' })).status).toBe(400);
    expect((await distill({})).status).toBe(400);
    const runId = 'attempt_orphaned00';
    await aRun(runId, { taskId: 'task_20260101_absent' });
    expect((await distill({ runId })).status).toBe(404);
    const { id } = await aRun('attempt_toolong000');
    const subtasks = Array.from({ length: 101 }, (_, n) => ({ title: `Step ${n}` }));
    expect((await board.call('PATCH', `/api/tasks/${id}`, { body: { subtasks } })).status).toBe(200);
    expect(await distill({ runId: 'attempt_toolong000' })).toMatchObject({
      status: 409,
      body: { details: { issues: [{ path: 'subtaskTemplates' }] } },
    });
    const forbidden = await call('POST', '/distill-from-run', { body: { runId }, key: agentKey });
    expect(forbidden.status).toBe(403);
  });
});
