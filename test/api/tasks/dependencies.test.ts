import { rm } from 'node:fs/promises';
import type { Task } from '../../../contracts/tasks/task';
import { eventually } from '../../../platform/testing/eventually';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { boardTasks, missingTask } from './board-tasks';

let board: ApiUnderTest;
/** Another process on the same board. */
let replica: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
  replica = await startTestApi({ BOARD_DATA_DIR: board.dataDir });
});
afterAll(async () => {
  await replica.close();
  await board.close();
});

const { create, get, post } = boardTasks(() => board);
const add = (id: string, body: unknown, options = {}) => post(`/api/tasks/${id}/dependencies`, body, options);
const remove = (id: string, targetId: string, options = {}) =>
  board.call('DELETE', `/api/tasks/${id}/dependencies/${targetId}`, options);
const read = async (id: string, what = 'dependencies') => (await board.call('GET', `/api/tasks/${id}/${what}`)).body;
const idsOf = (tasks: Task[]): string[] => tasks.map(({ id }) => id);
const patch = (id: string, blockedBy: string[], path = '/api/tasks', api = board) =>
  api.call('PATCH', `${path}/${id}`, { body: { blockedBy } });
const begin = (id: string) => board.call('PATCH', `/api/tasks/${id}`, { body: { status: 'in-progress' } });
/** What only a hand or an older client writes. */
const write = (id: string, fields: Partial<Task>) =>
  board.api.context.board.update(id, () => fields, { actor: 'user:ada' });

const waitingForms: [string, (id: string) => unknown][] = [
  ['targetId and blocked-by', (id) => ({ targetId: id, type: 'blocked-by' })],
  ['depends_on', (id) => ({ depends_on: id })],
];
const blockingForms: [string, (id: string) => unknown][] = [
  ['targetId and blocks', (id) => ({ targetId: id, type: 'blocks' })],
  ['blocks', (id) => ({ blocks: id })],
];

describe('POST /api/tasks/:id/dependencies', () => {
  it.each(waitingForms)('makes the task wait for another, as %s', async (_form, body) => {
    const [a, b] = [await create(), await create()];
    const { status, headers, body: changed } = await add(a.id, body(b.id), { key: agentKey });
    expect(status).toBe(200);
    expect(changed).toMatchObject({ id: a.id, revision: 2, dependencies: { depends_on: [b.id] } });
    expect(headers.get('ETag')).toBe(`"task:${a.id}:2"`);
    expect(await read(a.id)).toEqual({ depends_on: [b], blocks: [] });
    expect(await read(b.id)).toEqual({ depends_on: [], blocks: [changed] });
    expect((await get(b.id)).revision).toBe(1);
  });

  it.each(blockingForms)('makes another wait for the task, as %s', async (_form, body) => {
    const [a, b] = [await create(), await create()];
    expect((await add(a.id, body(b.id))).body).toMatchObject({ id: a.id, revision: 1 });
    expect((await get(b.id)).dependencies).toEqual({ depends_on: [a.id] });
    expect(idsOf((await read(a.id)).blocks)).toEqual([b.id]);
  });

  it('leaves as it is what is there already', async () => {
    const [a, b] = [await create(), await create()];
    await add(a.id, { depends_on: b.id });
    expect((await add(a.id, { depends_on: b.id })).body).toMatchObject({ revision: 2 });
    expect((await add(b.id, { blocks: a.id })).body).toMatchObject({ id: b.id, revision: 1 });
  });

  it('refuses a circle, however long', async () => {
    const [a, b, c] = [await create(), await create(), await create()];
    await add(a.id, { depends_on: b.id });
    await add(b.id, { depends_on: c.id });
    const circle = { status: 400, body: { error: 'Adding this dependency would create a cycle' } };
    expect(await add(a.id, { depends_on: a.id })).toMatchObject(circle);
    const refused = await add(c.id, { targetId: a.id, type: 'blocked-by' });
    expect(refused).toMatchObject(circle);
    expect(refused.body.details.issues).toEqual([
      { path: 'targetId', message: expect.stringContaining(`${a.id} → ${b.id} → ${c.id}`), code: 'custom' },
    ]);
    expect(await add(a.id, { blocks: c.id })).toMatchObject(circle);
    expect(await add(a.id, { depends_on: c.id })).toMatchObject({ status: 200 });
  });

  it('sees a circle that a hand has closed half of', async () => {
    const [a, b] = [await create(), await create()];
    await write(a.id, { dependencies: { blocks: [b.id] } });
    expect(await add(a.id, { depends_on: b.id })).toMatchObject({ status: 400 });
  });

  it('lets no two requests close a circle together, in one process or in two', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tasks = [await create(), await create(), await create()];
      const replies = await Promise.all(
        tasks.map(({ id }, n) =>
          (n % 2 ? replica : board).call('POST', `/api/tasks/${id}/dependencies`, {
            body: { depends_on: tasks[(n + 1) % 3]!.id },
          }),
        ),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 400]);
    }
  });

  it('loses none of many that are added to one task at once', async () => {
    const a = await create();
    const others = await Promise.all(Array.from({ length: 8 }, () => create()));
    const replies = await Promise.all(others.map(({ id }) => add(a.id, { depends_on: id })));
    expect(replies.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect(idsOf((await read(a.id)).depends_on).sort()).toEqual(idsOf(others).sort());
  });

  it('needs both tasks, the permission to write, and the revision that was seen', async () => {
    const [a, b] = [await create(), await create()];
    expect(await add(missingTask, { depends_on: b.id })).toMatchObject({ status: 404 });
    expect(await add(a.id, { depends_on: missingTask })).toMatchObject({
      status: 404,
      body: { details: { id: missingTask } },
    });
    expect(await add(a.id, { depends_on: b.id }, { key: readKey })).toMatchObject({ status: 403 });
    const stale = { status: 409, body: { details: { resourceId: a.id, expectedRevision: 4, currentRevision: 1 } } };
    expect(await add(a.id, { depends_on: b.id, expectedRevision: 4 })).toMatchObject(stale);
    expect(await add(a.id, { blocks: b.id }, { headers: { 'If-Match': '"4"' } })).toMatchObject(stale);
    expect((await get(b.id)).revision).toBe(1);
    await post(`/api/tasks/${a.id}/archive`);
    expect(await add(a.id, { depends_on: b.id })).toMatchObject({
      status: 409,
      body: { details: { location: 'archive' } },
    });
  });

  it.each([
    ['nothing', {}, 'targetId'],
    ['two forms', { depends_on: missingTask, blocks: missingTask }, 'targetId'],
    ['a target without a type', { targetId: missingTask }, 'type'],
    ['a type without a target', { depends_on: missingTask, type: 'blocks' }, 'type'],
    ['a type that is none', { targetId: missingTask, type: 'related' }, 'type'],
    ['what is no id', { blocks: '../x' }, 'blocks'],
    ['an unknown field', { depends_on: missingTask, strength: 3 }, 'strength'],
  ])('refuses %s by its path', async (_case, body, path) => {
    const refused = await add((await create()).id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });
});

describe('blockedBy', () => {
  it('is a dependency in every view of it', async () => {
    const [a, b] = [await create(), await create({ title: 'first' })];
    const { body: changed } = await patch(a.id, [b.id]);
    expect(await read(a.id)).toEqual({ depends_on: [b], blocks: [] });
    expect(await read(b.id)).toEqual({ depends_on: [], blocks: [changed] });
    expect(await read(a.id, 'dependency-graph')).toMatchObject({ upstream: [{ task: { id: b.id } }], downstream: [] });
    expect((await read(a.id, 'context')).dependencies.depends_on).toMatchObject([{ id: b.id, title: 'first' }]);
    expect((await add(a.id, { depends_on: b.id })).body).toMatchObject({ revision: 2 });
  });

  it('leads into no circle, whatever adds to it', async () => {
    const [a, b] = [await create(), await create()];
    const circle = { status: 400, body: { error: 'Adding this dependency would create a cycle' } };
    expect(await patch(a.id, [b.id])).toMatchObject({ status: 200 });
    expect(await add(b.id, { depends_on: a.id })).toMatchObject(circle);
    const refused = await patch(b.id, [a.id]);
    expect(refused).toMatchObject(circle);
    expect(refused.body.details.issues).toMatchObject([{ path: 'blockedBy.0' }]);
    expect(await patch(a.id, [b.id, a.id])).toMatchObject(circle);
    const bulk = await post('/api/tasks/bulk-update', { ids: [a.id, b.id], updates: { blockedBy: [b.id] } });
    expect(bulk.body).toEqual({ updated: [a.id], count: 1, failed: [{ id: b.id, error: circle.body.error }] });
    const planned = await create({ blockedBy: [a.id] }, '/api/backlog');
    expect(await patch(a.id, [planned.id])).toMatchObject(circle);
    expect(await patch(planned.id, [planned.id], '/api/backlog')).toMatchObject(circle);
  });

  it('names tasks of the board only, but keeps what a hand has written', async () => {
    const [a, b] = [await create(), await create()];
    const unknown = { status: 400, body: { details: { issues: [{ path: 'blockedBy.1' }] } } };
    for (const path of ['/api/tasks', '/api/backlog']) {
      expect(await post(path, { title: 'waits', blockedBy: [b.id, missingTask] })).toMatchObject(unknown);
    }
    expect(await patch(a.id, [b.id, missingTask])).toMatchObject(unknown);
    const bulk = await post('/api/tasks/bulk-update', { ids: [a.id], updates: { blockedBy: [missingTask] } });
    expect(bulk.body.failed).toEqual([{ id: a.id, error: expect.stringContaining(missingTask) }]);
    await write(a.id, { blockedBy: [missingTask, a.id] });
    expect(await patch(a.id, [missingTask, a.id, b.id])).toMatchObject({ status: 200 });
    expect(await patch(missingTask, [b.id])).toMatchObject({ status: 404 });
  });

  it('lets no two requests close a circle together, in one process or in two', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [a, b] = [await create(), await create()];
      const replies = await Promise.all([
        patch(a.id, [b.id], '/api/tasks', replica),
        round % 2 ? patch(b.id, [a.id]) : add(b.id, { depends_on: a.id }),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    }
  });
});

describe('DELETE /api/tasks/:id/dependencies/:targetId', () => {
  it.each(['the waiting task', 'the awaited task'])('ends a dependency from the side of %s', async (side) => {
    const [a, b] = [await create(), await create()];
    await add(a.id, { depends_on: b.id });
    const [from, to] = side === 'the waiting task' ? [a, b] : [b, a];
    expect(await remove(from.id, to.id)).toMatchObject({ status: 200, body: { id: from.id } });
    expect(await get(a.id)).not.toHaveProperty('dependencies');
    expect(await read(a.id)).toEqual({ depends_on: [], blocks: [] });
    expect(await remove(from.id, to.id)).toMatchObject({ status: 404, body: { details: { resource: 'dependency' } } });
  });

  it('ends what is written by hand on both sides, and keeps the others', async () => {
    const [a, b, c] = [await create(), await create(), await create()];
    await write(a.id, { dependencies: { depends_on: [b.id, c.id], note: 'mine' } });
    await write(b.id, { dependencies: { blocks: [a.id] } });
    expect((await remove(a.id, b.id)).body.dependencies).toEqual({ depends_on: [c.id], note: 'mine' });
    expect(await get(b.id)).not.toHaveProperty('dependencies');
  });

  it('ends a dependency on a task that is gone', async () => {
    const [a, b] = [await create(), await create()];
    await add(a.id, { depends_on: b.id });
    await board.call('DELETE', `/api/tasks/${b.id}`);
    expect(await read(a.id, 'blocking-status')).toMatchObject({ isBlocked: false });
    expect(await remove(a.id, b.id)).toMatchObject({ status: 200 });
  });

  it.each(['the waiting task', 'the awaited task'])('ends what is in blockedBy from the side of %s', async (side) => {
    const [a, b, c] = [await create(), await create(), await create()];
    await patch(a.id, [b.id, c.id]);
    const [from, to] = side === 'the waiting task' ? [a, b] : [b, a];
    expect(await remove(from.id, to.id)).toMatchObject({ status: 200, body: { id: from.id } });
    expect((await get(a.id)).blockedBy).toEqual([c.id]);
    expect(await remove(a.id, c.id)).toMatchObject({ status: 200 });
    expect(await get(a.id)).not.toHaveProperty('blockedBy');
  });

  it('needs the permission to write and the revision that was seen', async () => {
    const [a, b] = [await create(), await create()];
    await add(a.id, { depends_on: b.id });
    expect(await remove(a.id, b.id, { key: readKey })).toMatchObject({ status: 403 });
    expect(await remove(a.id, b.id, { headers: { 'If-Match': '"1"' } })).toMatchObject({ status: 409 });
    expect(await remove(b.id, a.id, { headers: { 'If-Match': '"7"' } })).toMatchObject({ status: 409 });
    expect(await remove(missingTask, b.id)).toMatchObject({ status: 404 });
    expect(await remove(a.id, b.id, { headers: { 'If-Match': '"2"' } })).toMatchObject({ status: 200 });
  });
});

it('answers the graph of the active tasks in both directions', async () => {
  const [a, b, c, d] = [await create(), await create(), await create(), await create({}, '/api/backlog')];
  await add(a.id, { depends_on: b.id });
  await add(b.id, { depends_on: c.id });
  await add(c.id, { depends_on: d.id });
  const graph = await read(b.id, 'dependency-graph');
  expect(graph).toMatchObject({
    task: { id: b.id },
    upstream: [{ task: { id: c.id }, children: [] }],
    downstream: [{ task: { id: a.id }, children: [] }],
  });
  expect(idsOf((await read(c.id)).depends_on)).toEqual([d.id]);
});

it('reports what blocks a task and what does no longer', async () => {
  const [a, b, c] = [await create(), await create({ title: 'open' }), await create({ title: 'over', status: 'done' })];
  await add(a.id, { depends_on: b.id });
  await board.call('PATCH', `/api/tasks/${a.id}`, { body: { blockedBy: [c.id] } });
  expect(await read(a.id, 'blocking-status')).toEqual({
    isBlocked: true,
    blockers: [{ id: b.id, title: 'open', status: 'todo' }],
    completedBlockers: [{ id: c.id, title: 'over' }],
  });
  for (const what of ['dependencies', 'dependency-graph', 'blocking-status']) {
    expect(await board.call('GET', `/api/tasks/${missingTask}/${what}`)).toMatchObject({ status: 404 });
  }
});

describe('beginning a task', () => {
  it.each<[string, (id: string) => Partial<Task>]>([
    ['depends_on', (id) => ({ dependencies: { depends_on: [id] } })],
    ['blockedBy', (id) => ({ blockedBy: [id] })],
  ])('is refused while something in %s is unfinished', async (_field, fields) => {
    const [a, b] = [await create(), await create({ title: 'first' })];
    await write(a.id, fields(b.id));
    const refused = await begin(a.id);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: 'Task is blocked', details: { blockedBy: [{ id: b.id, title: 'first' }] } },
    });
    const traces = await board.call('GET', `/api/governance/traces?kind=workflow-gate&taskId=${a.id}`);
    expect(traces.body).toMatchObject([
      { id: refused.body.details.traceId, outcome: 'blocked', matchedRules: [{ id: b.id, type: 'dependency' }] },
    ]);
    expect(await board.call('PATCH', `/api/tasks/${a.id}`, { body: { status: 'blocked' } })).toMatchObject({
      status: 200,
    });
    await board.call('PATCH', `/api/tasks/${b.id}`, { body: { status: 'done' } });
    expect(await begin(a.id)).toMatchObject({ status: 200, body: { status: 'in-progress' } });
  });

  it('goes by what another process has finished just now', async () => {
    const [a, b] = [await create(), await create()];
    await add(a.id, { depends_on: b.id });
    const done = await replica.call('PATCH', `/api/tasks/${b.id}`, { body: { status: 'done' } });
    expect(done).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(await begin(a.id)).toMatchObject({ status: 200 });
  });

  it('is not refused in bulk, nor for a task that has begun', async () => {
    const [a, b] = [await create(), await create()];
    await add(a.id, { depends_on: b.id });
    expect((await post('/api/tasks/bulk-update', { ids: [a.id], status: 'in-progress' })).body.count).toBe(1);
    expect(await begin(a.id)).toMatchObject({ status: 200 });
  });

  it('is refused in the backlog as on the board', async () => {
    const a = await create({ blockedBy: [(await create()).id] }, '/api/backlog');
    const patch = { body: { status: 'in-progress' } };
    expect(await board.call('PATCH', `/api/backlog/${a.id}`, patch)).toMatchObject({ status: 400 });
  });
});

it('follows a task whose file is taken away', async () => {
  const [a, b] = [await create(), await create({ title: 'gone' })];
  await add(a.id, { depends_on: b.id });
  await rm(`${board.dataDir}/tasks/active/${b.id}-gone.md`);
  await eventually(async () => expect(await read(a.id)).toEqual({ depends_on: [], blocks: [] }));
  expect(await begin(a.id)).toMatchObject({ status: 200 });
});
