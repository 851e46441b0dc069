import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { boardTasks, missingTask } from './board-tasks';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const { create, get, post, ids, attempt } = boardTasks(() => board);
const archive = (id: string, options = {}) => post(`/api/tasks/${id}/archive`, undefined, options);
const restore = (id: string, options = {}) => post(`/api/tasks/${id}/restore`, undefined, options);

describe('POST /api/tasks/:id/archive', () => {
  it('takes a task from the board into the archive, whatever its status', async () => {
    const { id } = await create({ status: 'blocked' });
    const { status, body, headers } = await archive(id, { key: agentKey });
    expect([status, body]).toEqual([200, { archived: true, id }]);
    expect(headers.get('X-Resource-Revision')).toBe('2');
    expect(await ids('/api/tasks')).not.toContain(id);
    expect(await ids('/api/tasks/archived')).toContain(id);
    expect(await get(id)).toMatchObject({ status: 'blocked', updatedBy: 'agent:worker' });
  });

  it('refuses a task that is archived already, with its place', async () => {
    const { id } = await create();
    await archive(id);
    expect(await archive(id)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', details: { resourceType: 'task', resourceId: id, location: 'archive' } },
    });
  });

  it('moves a task once, however many ask for it', async () => {
    const { id } = await create();
    const replies = await Promise.all(Array.from({ length: 6 }, () => archive(id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await get(id)).revision).toBe(2);
  });

  it('needs a task, the permission to write, and the revision that was seen', async () => {
    const { id } = await create();
    expect(await archive(missingTask)).toMatchObject({ status: 404 });
    expect(await archive('not-an-id')).toMatchObject({ status: 400 });
    expect(await archive(id, { key: readKey })).toMatchObject({ status: 403 });
    expect(await archive(id, { headers: { 'If-Match': `"task:${id}:9"` } })).toMatchObject({
      status: 409,
      body: { details: { expectedRevision: 9, currentRevision: 1, current: { id } } },
    });
    expect(await archive(id, { headers: { 'If-Match': `"task:${id}:1"` } })).toMatchObject({ status: 200 });
  });
});

describe('a task in the archive', () => {
  it('is not changed, only deleted or restored', async () => {
    const { id } = await create();
    await archive(id);
    const inArchive = { status: 409, body: { code: 'CONFLICT', details: { location: 'archive' } } };
    expect(await board.call('PATCH', `/api/tasks/${id}`, { body: { title: 'b' } })).toMatchObject(inArchive);
    expect(await post(`/api/tasks/${id}/comments`, { text: 'late' })).toMatchObject(inArchive);
    expect(await post(`/api/tasks/${id}/demote`)).toMatchObject(inArchive);
    expect(await post('/api/tasks/bulk-update', { ids: [id], status: 'todo' })).toMatchObject({
      body: { updated: [], failed: [{ id, error: expect.stringContaining('archive') }] },
    });
    expect((await get(id)).revision).toBe(2);
    expect(await board.call('DELETE', `/api/tasks/${id}`)).toMatchObject({ status: 204 });
    expect(await ids('/api/tasks/archived')).not.toContain(id);
  });

  it('is listed with the filters and the pages of the task list', async () => {
    for (const title of ['one', 'two', 'three']) {
      await archive((await create({ title, project: 'paged' })).id);
    }
    const { body, headers } = await board.call('GET', '/api/tasks/archived?project=paged&limit=2');
    expect(body.tasks.map(({ title }: { title: string }) => title)).toEqual(['three', 'two']);
    expect(body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
    expect(headers.get('Link')).toContain('</api/tasks/archived?project=paged&limit=2&page=2>; rel="next"');
    const known = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } };
    expect((await board.call('GET', '/api/tasks/archived?project=paged&limit=2', known)).status).toBe(304);
    const refused = await board.call('GET', '/api/tasks/archived?colour=red');
    expect(refused.body.details.issues[0].path).toBe('colour');
  });
});

describe('POST /api/tasks/:id/restore', () => {
  it('brings an archived task back as done', async () => {
    const { id } = await create({ status: 'blocked', blockedReason: { category: 'other' } });
    await archive(id);
    const { status, body } = await restore(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'done', revision: 3, restoreMetadata: { restoredFromDelete: false } });
    expect(await get(id)).toMatchObject({ status: 'done' });
    expect(await get(id)).not.toHaveProperty('blockedReason');
    expect(await get(id)).not.toHaveProperty('restoreMetadata');
    expect(await ids('/api/tasks?status=done')).toContain(id);
  });

  it('brings a deleted task back and reports how it was deleted', async () => {
    const { id } = await create();
    await board.call('DELETE', `/api/tasks/${id}`, { key: agentKey });
    const { body } = await restore(id);
    expect(body.restoreMetadata).toEqual({
      restoredFromDelete: true,
      deletedAt: expect.stringMatching(/^\d{4}-/),
      deletedBy: 'agent:worker',
      purgeAfter: expect.stringMatching(/^\d{4}-/),
    });
    expect(await get(id)).toMatchObject({ status: 'done', revision: 3 });
    expect(await get(id)).not.toHaveProperty('deletedAt');
  });

  it('does not find a deleted task once it is to be purged', async () => {
    const { id } = await create();
    await archive(id);
    const purgeAfter = '2026-01-01T00:00:00.000Z';
    await board.api.context.board.update(id, () => ({ deletedAt: purgeAfter, purgeAfter }), { actor: 'user:ada' });
    expect(await restore(id)).toMatchObject({ status: 404 });
  });

  it('needs an archived task, the permission to write, and the revision that was seen', async () => {
    const { id } = await create();
    expect(await restore(id)).toMatchObject({ status: 409, body: { details: { location: 'active' } } });
    expect(await restore(missingTask)).toMatchObject({ status: 404 });
    await archive(id);
    expect(await restore(id, { key: readKey })).toMatchObject({ status: 403 });
    expect(await restore(id, { headers: { 'If-Match': '"1"' } })).toMatchObject({ status: 409 });
  });
});

it.each(['pending', 'running'] as const)('a task with a %s attempt stays where it is', async (status) => {
  const { id } = await create({ status: 'done', sprint: `with ${status}` });
  await attempt(id, status);
  const busy = { status: 409, body: { code: 'CONFLICT', details: { resourceId: id, attempt: { status } } } };
  expect(await archive(id)).toMatchObject(busy);
  expect(await post(`/api/tasks/${id}/demote`)).toMatchObject(busy);
  expect(await board.call('DELETE', `/api/tasks/${id}`)).toMatchObject(busy);
  expect((await post('/api/tasks/bulk-archive', { sprint: `with ${status}` })).body).toMatchObject({ count: 0 });
  await attempt(id, 'complete');
  expect(await archive(id)).toMatchObject({ status: 200 });
});

describe('sprints', () => {
  it('are suggested when all their active tasks are done', async () => {
    const first = await create({ sprint: 'S1', status: 'done' });
    const second = await create({ sprint: 'S1', status: 'done' });
    await create({ sprint: 'S2', status: 'done' });
    await create({ sprint: 'S2' });
    const { body } = await board.call('GET', '/api/tasks/archive/suggestions');
    const found = (body as { sprint: string }[]).filter(({ sprint }) => /^S\d$/.test(sprint));
    expect(found).toEqual([{ sprint: 'S1', taskCount: 2, tasks: [second, first] }]);
    const page = await board.call('GET', '/api/tasks/archive/suggestions?page=2&limit=100');
    expect(page.body).toEqual([]);
    expect(await board.call('GET', '/api/tasks/archive/suggestions?limit=101')).toMatchObject({ status: 400 });
  });

  it('are archived as far as they are done', async () => {
    const done = await create({ sprint: 'half way', status: 'done' });
    const open = await create({ sprint: 'half way' });
    const { status, body } = await post(`/api/tasks/archive/sprint/${encodeURIComponent('half way')}`);
    expect([status, body]).toEqual([200, { archived: 1, taskIds: [done.id], failed: [] }]);
    expect(await ids('/api/tasks')).toContain(open.id);
  });

  it('are archived by a name in the body', async () => {
    const { id } = await create({ sprint: 'by name', status: 'done' });
    expect(await post('/api/tasks/bulk-archive', { sprint: 'by name' })).toMatchObject({
      status: 200,
      body: { archived: [id], count: 1, failed: [] },
    });
    expect(await ids('/api/tasks/archived')).toContain(id);
  });

  it.each([
    ['/api/tasks/archive/sprint/unknown', undefined],
    ['/api/tasks/bulk-archive', { sprint: 'unknown' }],
    ['/api/tasks/bulk-archive', {}],
  ])('without a done task are refused: %s', async (path, body) => {
    const refused = await post(path, body);
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'sprint' }] } } });
  });
});

describe('POST /api/tasks/bulk-archive-by-ids', () => {
  it.each(['taskIds', 'ids'])('archives the tasks in %s, and those that can be when one cannot', async (name) => {
    const [a, b, c] = [await create(), await create(), await create()];
    await archive(b.id);
    const { status, body } = await post('/api/tasks/bulk-archive-by-ids', {
      [name]: [a.id, b.id, missingTask, c.id, a.id],
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      archived: [a.id, c.id],
      count: 2,
      failed: [
        { id: b.id, error: expect.stringContaining('in the archive') },
        { id: missingTask, error: expect.stringContaining(missingTask) },
      ],
    });
  });

  it.each([
    ['no list', {}, 'taskIds'],
    ['two lists', { taskIds: [missingTask], ids: [missingTask] }, 'taskIds'],
    ['an empty list', { ids: [] }, 'ids'],
    ['too many', { taskIds: Array.from({ length: 101 }, (_, n) => `TASK-${n}`) }, 'taskIds'],
    ['what is no id', { taskIds: [missingTask, '../x'] }, 'taskIds.1'],
    ['an unknown field', { ids: [missingTask], force: true }, 'force'],
  ])('refuses %s by its path', async (_case, body, path) => {
    const refused = await post('/api/tasks/bulk-archive-by-ids', body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
    expect(await post('/api/tasks/bulk-archive-by-ids', body, { key: readKey })).toMatchObject({ status: 403 });
  });
});

it('refuses to move one of two files with the same identity, and reports where it would have gone', async () => {
  const github = { repo: 'acme/atlas', issueNumber: 7 };
  const { id } = await create({ github });
  const other = await create();
  await board.api.context.board.move(id, () => ({ deletedAt: new Date().toISOString() }), {
    to: 'archive',
    actor: 'user:ada',
    operation: 'delete',
  });
  await board.call('PATCH', `/api/tasks/${other.id}`, { body: { github } });
  expect(await restore(id)).toMatchObject({
    status: 409,
    body: {
      error: 'Duplicate task identity detected',
      code: 'CONFLICT',
      details: {
        operation: 'restore',
        taskId: id,
        destinationPath: `active/${id}-a-task.md`,
        duplicateIds: ['github:acme/atlas#7'],
        conflicts: [{ kind: 'business-id', id: 'github:acme/atlas#7', sources: [{ location: 'active' }] }],
      },
    },
  });
});
