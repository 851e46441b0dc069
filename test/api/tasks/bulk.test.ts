import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { boardTasks, missingTask } from './board-tasks';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const { create, get, post } = boardTasks(() => board);

describe('POST /api/tasks/reorder', () => {
  it.each(['taskIds', 'orderedIds'])('gives the tasks in %s their positions', async (name) => {
    const [a, b, c] = [await create(), await create({ position: 9 }), await create()];
    const order = [c.id, a.id, b.id];
    expect(await post('/api/tasks/reorder', { [name]: order })).toMatchObject({ status: 200, body: { updated: 3 } });
    expect((await Promise.all(order.map(get))).map(({ position }) => position)).toEqual([0, 1, 2]);
  });

  it('leaves a task that has its position already', async () => {
    const [a, b] = [await create({ position: 0 }), await create()];
    expect((await post('/api/tasks/reorder', { taskIds: [a.id, b.id] })).body).toEqual({ updated: 2 });
    expect([(await get(a.id)).revision, (await get(b.id)).revision]).toEqual([1, 2]);
  });

  it('changes nothing when one is unknown or not on the board', async () => {
    const [a, b] = [await create(), await create()];
    await post(`/api/tasks/${b.id}/demote`);
    expect(await post('/api/tasks/reorder', { taskIds: [a.id, missingTask] })).toMatchObject({ status: 404 });
    expect(await post('/api/tasks/reorder', { taskIds: [a.id, b.id] })).toMatchObject({
      status: 409,
      body: { details: { resourceId: b.id, location: 'backlog' } },
    });
    expect((await get(a.id)).revision).toBe(1);
  });

  it.each([
    ['no list', {}, 'taskIds'],
    ['two lists', { taskIds: [missingTask], orderedIds: [missingTask] }, 'taskIds'],
    ['what is no id', { orderedIds: ['a/b'] }, 'orderedIds.0'],
    ['an unknown field', { taskIds: [missingTask], column: 'todo' }, 'column'],
  ])('refuses %s by its path', async (_case, body, path) => {
    const refused = await post('/api/tasks/reorder', body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
    expect(await post('/api/tasks/reorder', body, { key: readKey })).toMatchObject({ status: 403 });
  });
});

describe('POST /api/tasks/bulk-update', () => {
  it('changes the fields of many tasks as a patch does', async () => {
    const a = await create({ status: 'blocked', blockedReason: { category: 'other' } });
    const b = await create({ sprint: '6' });
    const updates = { status: 'in-progress', sprint: null, title: 'Now <b>this</b>' };
    expect(await post('/api/tasks/bulk-update', { taskIds: [a.id, missingTask, b.id], updates })).toMatchObject({
      status: 200,
      body: {
        updated: [a.id, b.id],
        count: 2,
        failed: [{ id: missingTask, error: expect.stringContaining(missingTask) }],
      },
    });
    for (const id of [a.id, b.id]) {
      const task = await get(id);
      expect(task).toMatchObject({ status: 'in-progress', title: 'Now this', revision: 2 });
      expect(task).not.toHaveProperty('sprint');
      expect(task).not.toHaveProperty('blockedReason');
    }
  });

  it('takes a status in the short form', async () => {
    const { id } = await create();
    expect((await post('/api/tasks/bulk-update', { ids: [id], status: 'done' })).body).toEqual({
      updated: [id],
      count: 1,
      failed: [],
    });
    expect(await get(id)).toMatchObject({ status: 'done' });
  });

  it('leaves the review of tasks to those who decide reviews, as a patch does', async () => {
    const { id } = await create({ executionPolicy: { review: 'required', reviewDelivery: 'merge' } });
    const plain = await create();
    for (const executionPolicy of [null, {}, { review: 'required', reviewDelivery: 'pull-request' }]) {
      const body = { ids: [id], updates: { executionPolicy } };
      expect(await post('/api/tasks/bulk-update', body, { key: agentKey })).toMatchObject({
        status: 200,
        body: { updated: [], count: 0, failed: [{ id, error: expect.stringContaining('agent:write') }] },
      });
    }
    expect((await get(id)).revision).toBe(1);
    const allowed = { ids: [plain.id], updates: { executionPolicy: { commitPolicy: 'required' } } };
    expect(await post('/api/tasks/bulk-update', allowed, { key: agentKey })).toMatchObject({ body: { count: 1 } });
    const taken = { ids: [id], updates: { executionPolicy: null } };
    expect(await post('/api/tasks/bulk-update', taken)).toMatchObject({ body: { count: 1 } });
  });

  it('loses nothing when several update the same tasks at once', async () => {
    const tasks = [await create(), await create(), await create()];
    const ids = tasks.map(({ id }) => id);
    const fields = [{ sprint: '7' }, { project: 'atlas' }, { assignee: 'ada' }, { priority: 'high' }];
    await Promise.all(fields.map((updates) => post('/api/tasks/bulk-update', { ids, updates })));
    for (const id of ids) {
      expect(await get(id)).toMatchObject({ ...Object.assign({}, ...fields), revision: 5 });
    }
  });

  it.each([
    ['no updates', { ids: [missingTask] }, 'updates'],
    ['two forms of updates', { ids: [missingTask], status: 'done', updates: {} }, 'updates'],
    ['an unknown field of them', { ids: [missingTask], updates: { colour: 'red' } }, 'updates.colour'],
    [
      'a revision, which many tasks have not',
      { ids: [missingTask], updates: { expectedRevision: 1 } },
      'updates.expectedRevision',
    ],
    ['a status that is no column', { ids: [missingTask], status: 'cancelled' }, 'status'],
    ['a title of tags only', { ids: [missingTask], updates: { title: '<br>' } }, 'updates.title'],
    ['too many tasks', { ids: Array.from({ length: 101 }, (_, n) => `TASK-${n}`), status: 'done' }, 'ids'],
  ])('refuses %s by its path', async (_case, body, path) => {
    const refused = await post('/api/tasks/bulk-update', body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
    expect(await post('/api/tasks/bulk-update', body, { key: readKey })).toMatchObject({ status: 403 });
  });
});
