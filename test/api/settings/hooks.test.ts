import { type ApiUnderTest, startWholeTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startWholeTestApi();
});
afterAll(() => board.close());

const url = 'https://example.org/told';
const action = { type: 'webhook', url };
const create = (body: object) =>
  board.call('POST', '/api/hooks', { body: { name: 'Ship', event: 'task.done', ...body } });
const patch = (id: string, body: object) => board.call('PATCH', `/api/hooks/${id}`, { body });

describe('a hook in the form of existing clients', () => {
  it('is made, and answered in the form of the specification', async () => {
    const { status, body } = await create({
      action: 'webhook',
      config: { url },
      taskTypeFilter: 'bug',
      projectFilter: ['shop'],
      priorityFilter: null,
      order: 5,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ action, filter: { type: 'bug', project: 'shop' }, order: 5, enabled: true });
    expect(Object.keys(body)).not.toContain('config');
    expect((await create({ action, filter: { type: 'bug', project: 'shop' } })).body.filter).toEqual(body.filter);
  });

  it('is changed part by part', async () => {
    const { id } = (await create({ action, filter: { newStatus: 'done', type: 'bug' } })).body as { id: string };
    expect((await patch(id, { config: { url: `${url}/2` } })).body.action).toEqual({
      type: 'webhook',
      url: `${url}/2`,
    });
    expect((await patch(id, { action: 'webhook', config: { url } })).body.action).toEqual(action);
    const filtered = await patch(id, { taskTypeFilter: null, priorityFilter: 'high' });
    expect(filtered.body).toMatchObject({ filter: { newStatus: 'done', priority: 'high' }, action });
    expect(filtered.body.filter.type).toBeUndefined();
    expect((await patch(id, { filter: {} })).body.filter).toEqual({});
  });

  it.each([
    ['an action that is none', { action: 'notify' }, 'action'],
    ['no address', { action: 'webhook' }, 'config'],
    ['two addresses', { action, config: { url } }, 'config'],
    ['an address that is none', { action: 'webhook', config: { url: 'example.org' } }, 'config.url'],
    ['two filters', { action, filter: { type: 'bug' }, taskTypeFilter: 'bug' }, 'filter'],
    ['two types', { action, taskTypeFilter: ['bug', 'code'] }, 'taskTypeFilter'],
    ['an event that never happens', { action, event: 'task.reviewed' }, 'event'],
  ])('is refused with %s', async (_case, body, path) => {
    const refused = await create(body);
    expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
    if (path === 'event') {
      return;
    }
    const { id } = (await create({ action })).body as { id: string };
    expect((await patch(id, body)).body.details.issues[0].path).toBe(path);
  });
});

it('is fired by hand for a task as its caller states it', async () => {
  await create({ event: 'task.blocked', action, filter: { project: 'elsewhere' } });
  const { id } = (await board.call('POST', '/api/tasks', { body: { title: 'a', project: 'here' } })).body;
  const fire = (body: object) => board.call('POST', '/api/hooks/fire', { body: { event: 'task.blocked', ...body } });
  expect((await fire({ taskId: id, project: 'nowhere', taskTitle: 'b' })).body).toEqual({ hooksRun: 0, results: [] });
  expect((await fire({ taskId: id, owner: 'me' })).body.details.issues[0].path).toBe('owner');
});
