import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { boardTasks, missingTask } from './board-tasks';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const { create, get, post, ids } = boardTasks(() => board);
const planned = (fields = {}) => create(fields, '/api/backlog');

describe('POST /api/backlog', () => {
  it('creates a task that is not on the board', async () => {
    const blockedBy = [(await create()).id];
    const fields = { project: 'atlas', sprint: '7', priority: 'high', agent: 'example', blockedBy };
    const { status, headers, body } = await post('/api/backlog', { title: 'A <b>plan</b>', ...fields });
    expect(status).toBe(201);
    expect(body).toMatchObject({ title: 'A plan', status: 'todo', revision: 1, ...fields });
    expect(headers.get('Location')).toBe(`/api/backlog/${body.id}`);
    expect(headers.get('ETag')).toBe(`"task:${body.id}:1"`);
    expect(await ids('/api/tasks')).not.toContain(body.id);
    expect(await ids('/api/backlog')).toContain(body.id);
  });

  it.each([
    ['no title', {}, 'title'],
    ['a status', { title: 'a', status: 'done' }, 'status'],
    ['what is no task id', { title: 'a', blockedBy: ['x'] }, 'blockedBy.0'],
  ])('refuses %s by its path', async (_case, body, path) => {
    const refused = await post('/api/backlog', body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
    expect(await post('/api/backlog', body, { key: readKey })).toMatchObject({ status: 403 });
  });
});

describe('GET /api/backlog', () => {
  it('lists pages of it, filtered, with the headers of the task list', async () => {
    for (const title of ['red', 'green', 'blue']) {
      await planned({ title, project: 'colours', type: 'bug' });
    }
    const { body, headers } = await board.call('GET', '/api/backlog?project=colours&type=bug,docs&search=E&limit=2');
    expect(body.tasks.map(({ title }: { title: string }) => title)).toEqual(['blue', 'green']);
    expect(body.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
    const next = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1] ?? '';
    expect(next).toMatch(/^\/api\/backlog\?.*search=E/);
    expect((await board.call('GET', next)).body.tasks).toMatchObject([{ title: 'red' }]);
    const known = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } };
    const path = '/api/backlog?project=colours&type=bug,docs&search=E&limit=2';
    expect((await board.call('GET', path, known)).status).toBe(304);
    await planned({ project: 'colours' });
    expect((await board.call('GET', path, known)).status).toBe(304);
    expect((await board.call('GET', '/api/backlog')).body.pagination).toMatchObject({ page: 1, limit: 100 });
  });

  it('refuses an unknown filter and a page that is none', async () => {
    expect((await board.call('GET', '/api/backlog?status=todo')).body.details.issues[0].path).toBe('status');
    expect((await board.call('GET', '/api/backlog?page=0')).body.details.issues[0].path).toBe('page');
  });

  it('counts, and reads only what is in it', async () => {
    const { body: before } = await board.call('GET', '/api/backlog/count');
    const task = await planned();
    expect((await board.call('GET', '/api/backlog/count', { key: readKey })).body).toEqual({ count: before.count + 1 });
    const read = await board.call('GET', `/api/backlog/${task.id}`);
    expect(read.body).toEqual(task);
    const known = { headers: { 'If-None-Match': read.headers.get('ETag') ?? '' } };
    expect((await board.call('GET', `/api/backlog/${task.id}`, known)).status).toBe(304);
    const { id } = await create();
    expect(await board.call('GET', `/api/backlog/${id}`)).toMatchObject({ status: 404 });
  });

  it('names files that cannot be read, and keeps its shape', async () => {
    await writeFile(join(board.dataDir, 'tasks', 'backlog', 'task_20260101_broken-x.md'), '---\nid: [\n---\n');
    await eventually(async () => {
      const { body, headers } = await board.call('GET', '/api/backlog');
      expect(headers.get('X-Board-Task-Identity-Conflicts')).toBeNull();
      expect(body.meta.taskIdentityDiagnostics).toMatchObject([{ location: 'backlog', code: 'invalid' }]);
      expect(body.tasks).toEqual(expect.any(Array));
    });
  });
});

describe('a task of the backlog', () => {
  it('is changed under both paths, if it is at the revision the caller has seen', async () => {
    const { id } = await planned();
    const patch = (path: string, body: unknown) => board.call('PATCH', `${path}/${id}`, { body });
    expect(await patch('/api/backlog', { title: 'b', expectedRevision: 1 })).toMatchObject({ status: 200 });
    expect(await patch('/api/backlog', { title: 'c', expectedRevision: 1 })).toMatchObject({
      status: 409,
      body: { details: { currentRevision: 2, current: { title: 'b' } } },
    });
    expect(await patch('/api/tasks', { priority: 'low' })).toMatchObject({ status: 200, body: { revision: 3 } });
    expect(await patch('/api/backlog', { colour: 'red' })).toMatchObject({ status: 400 });
    expect(await ids('/api/backlog')).toContain(id);
  });

  it('is deleted', async () => {
    const { id } = await planned();
    const gone = () => board.call('DELETE', `/api/backlog/${id}`);
    expect(await board.call('DELETE', `/api/backlog/${id}`, { headers: { 'If-Match': '"9"' } })).toMatchObject({
      status: 409,
    });
    expect((await gone()).status).toBe(204);
    expect((await gone()).status).toBe(404);
  });

  it('is not found when it is on the board', async () => {
    const { id } = await create();
    const missing = { status: 404, body: { details: { resource: 'backlog task', id } } };
    expect(await board.call('PATCH', `/api/backlog/${id}`, { body: { title: 'b' } })).toMatchObject(missing);
    expect(await board.call('DELETE', `/api/backlog/${id}`)).toMatchObject(missing);
    expect((await get(id)).revision).toBe(1);
  });
});

describe('promoting and demoting', () => {
  it('moves a task to the board as todo, and back with its status', async () => {
    const { id } = await planned();
    const promoted = await post(`/api/backlog/${id}/promote`, undefined, { key: agentKey });
    expect(promoted).toMatchObject({ status: 200, body: { id, status: 'todo', revision: 2 } });
    expect(promoted.headers.get('ETag')).toBe(`"task:${id}:2"`);
    expect(await ids('/api/tasks')).toContain(id);
    await board.call('PATCH', `/api/tasks/${id}`, {
      body: { status: 'blocked', blockedReason: { category: 'other' } },
    });
    const demoted = await post(`/api/tasks/${id}/demote`, undefined, { key: agentKey });
    expect(demoted).toMatchObject({ status: 200, body: { id, status: 'blocked', revision: 4 } });
    const again = await post(`/api/backlog/${id}/promote`);
    expect(again.body).toMatchObject({ status: 'todo', revision: 5 });
    expect(again.body).not.toHaveProperty('blockedReason');
  });

  it('refuses a task that is elsewhere, and a stale revision', async () => {
    const { id } = await planned();
    expect(await post(`/api/tasks/${id}/demote`)).toMatchObject({
      status: 409,
      body: { details: { location: 'backlog' } },
    });
    expect(await post(`/api/tasks/${id}/archive`)).toMatchObject({ status: 409 });
    const stale = { headers: { 'If-Match': '"7"' } };
    expect(await post(`/api/backlog/${id}/promote`, undefined, stale)).toMatchObject({
      status: 409,
      body: { details: { expectedRevision: 7 } },
    });
    expect(await post(`/api/backlog/${id}/promote`, undefined, { key: readKey })).toMatchObject({ status: 403 });
    await post(`/api/backlog/${id}/promote`);
    expect(await post(`/api/backlog/${id}/promote`)).toMatchObject({
      status: 409,
      body: { details: { location: 'active' } },
    });
    expect(await post(`/api/backlog/${missingTask}/promote`)).toMatchObject({ status: 404 });
    expect(await post(`/api/tasks/${missingTask}/demote`)).toMatchObject({ status: 404 });
  });

  it('ends in one location, whichever move comes last', async () => {
    const { id } = await create();
    const moves = Array.from({ length: 8 }, (_, n) =>
      post(n % 2 ? `/api/tasks/${id}/demote` : `/api/tasks/${id}/archive`),
    );
    const replies = await Promise.all(moves);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const places = await Promise.all([ids('/api/tasks'), ids('/api/backlog'), ids('/api/tasks/archived')]);
    expect(places.flat().filter((one) => one === id)).toEqual([id]);
  });

  it('takes many at once, and those that can be moved when one cannot', async () => {
    const [a, b] = [await planned(), await planned()];
    const activeTasks = await create();
    expect(await post('/api/backlog/bulk-promote', { ids: [a.id, activeTasks.id, b.id] })).toMatchObject({
      status: 200,
      body: { promoted: [a.id, b.id], count: 2, failed: [{ id: activeTasks.id, error: expect.any(String) }] },
    });
    expect(await post('/api/backlog/bulk-demote', { taskIds: [b.id, missingTask, activeTasks.id] })).toMatchObject({
      status: 200,
      body: { demoted: [b.id, activeTasks.id], count: 2, failed: [{ id: missingTask, error: expect.any(String) }] },
    });
    for (const path of ['bulk-promote', 'bulk-demote']) {
      expect(await post(`/api/backlog/${path}`, {})).toMatchObject({ status: 400 });
      expect(await post(`/api/backlog/${path}`, { ids: [a.id] }, { key: readKey })).toMatchObject({ status: 403 });
    }
  });
});
