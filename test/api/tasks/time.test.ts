import type { Task } from '../../../contracts/tasks/task';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { boardTasks, missingTask } from './board-tasks';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const { create, get, post } = boardTasks(() => board);
const start = (id: string, options = {}) => post(`/api/tasks/${id}/time/start`, undefined, options);
const stop = (id: string, options = {}) => post(`/api/tasks/${id}/time/stop`, undefined, options);
const note = (id: string, body: unknown, options = {}) => post(`/api/tasks/${id}/time/entry`, body, options);
const remove = (id: string, entryId: string, options = {}) =>
  board.call('DELETE', `/api/tasks/${id}/time/entry/${entryId}`, options);

describe('the timer', () => {
  it('starts and stops, and answers the task', async () => {
    const { id } = await create();
    const running = await start(id, { key: agentKey });
    expect(running).toMatchObject({ status: 200, body: { id, revision: 2 } });
    expect(running.headers.get('ETag')).toBe(`"task:${id}:2"`);
    const [entry] = (running.body as Task).timeTracking?.entries ?? [];
    expect(running.body.timeTracking).toEqual({
      entries: [{ id: expect.stringMatching(/^time_/), startTime: expect.any(String) }],
      totalSeconds: 0,
      isRunning: true,
      activeEntryId: entry?.id,
    });
    const { status, body } = await stop(id);
    expect(status).toBe(200);
    expect(body.timeTracking).toEqual({
      entries: [{ ...entry, endTime: expect.any(String), duration: 0, durationMs: expect.any(Number) }],
      totalSeconds: 0,
      isRunning: false,
    });
    expect(await get(id)).toEqual(body);
  });

  it('is not started twice, nor stopped when it does not run', async () => {
    const { id } = await create();
    expect(await stop(id)).toMatchObject({ status: 409, body: { code: 'CONFLICT', details: { running: null } } });
    const { activeEntryId } = (await start(id)).body.timeTracking;
    expect(await start(id)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', details: { running: { id: activeEntryId } } },
    });
    expect((await get(id)).revision).toBe(2);
  });

  it('is started once by many at once', async () => {
    const { id } = await create();
    const replies = await Promise.all(Array.from({ length: 6 }, () => start(id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await get(id)).timeTracking?.entries).toHaveLength(1);
  });
});

describe('a timer that runs', () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ['archived', (id) => post(`/api/tasks/${id}/archive`)],
    ['archived with others', (id) => post('/api/tasks/bulk-archive-by-ids', { ids: [id] })],
    ['archived with its sprint', (id) => post(`/api/tasks/archive/sprint/${id}`)],
    ['deleted', (id) => board.call('DELETE', `/api/tasks/${id}`)],
  ])('ends when its task is %s', async (_way, putAway) => {
    const { id } = await create();
    await board.call('PATCH', `/api/tasks/${id}`, { body: { sprint: id, status: 'done' } });
    const { activeEntryId } = (await start(id)).body.timeTracking;
    await putAway(id);
    const stored = board.api.context.board.inArchive().find((task) => task.id === id);
    expect(stored?.timeTracking).toMatchObject({ isRunning: false, entries: [{ id: activeEntryId, duration: 0 }] });
    await post(`/api/tasks/${id}/restore`);
    expect(await stop(id)).toMatchObject({ status: 409, body: { details: { running: null } } });
  });

  it('runs on when archiving its task is refused', async () => {
    const { id } = await create();
    const { body } = await start(id);
    expect(await post(`/api/tasks/${id}/archive`, undefined, { headers: { 'If-Match': '"7"' } })).toMatchObject({
      status: 409,
    });
    expect(await get(id)).toEqual(body);
  });
});

describe('entries', () => {
  it.each([
    ['durationMs', 90_500, 90],
    ['duration', 90, 90],
  ])('note time in %s', async (field, value, seconds) => {
    const { id } = await create();
    const { status, body } = await note(id, { [field]: value, description: 'Read <b>the</b> text' });
    expect(status).toBe(200);
    const [entry] = body.timeTracking.entries;
    const durationMs = field === 'durationMs' ? value : value * 1000;
    expect(entry).toMatchObject({ duration: seconds, durationMs, description: 'Read the text', manual: true });
    expect(Date.parse(entry.endTime) - Date.parse(entry.startTime)).toBe(durationMs);
    expect(body.timeTracking).toMatchObject({ totalSeconds: seconds, isRunning: false });
  });

  it('are deleted, a running one too', async () => {
    const { id } = await create();
    const [first] = (await note(id, { duration: 60 })).body.timeTracking.entries;
    await note(id, { duration: 30 });
    const { activeEntryId } = (await start(id)).body.timeTracking;
    expect((await remove(id, first.id)).body.timeTracking).toMatchObject({ totalSeconds: 30, isRunning: true });
    const left = (await remove(id, activeEntryId)).body.timeTracking;
    expect(left).toMatchObject({ totalSeconds: 30, isRunning: false, entries: [{ duration: 30 }] });
    expect(left).not.toHaveProperty('activeEntryId');
    expect(await remove(id, first.id)).toMatchObject({ status: 404, body: { details: { resource: 'time entry' } } });
  });

  it('lose none of many that are noted at once', async () => {
    const { id } = await create();
    const replies = await Promise.all(Array.from({ length: 20 }, () => note(id, { duration: 3 })));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect((await get(id)).timeTracking).toMatchObject({ totalSeconds: 60 });
  });

  it.each([
    ['no duration', {}, 'durationMs'],
    ['two durations', { durationMs: 1, duration: 1 }, 'durationMs'],
    ['none at all', { durationMs: 0 }, 'durationMs'],
    ['a fraction', { duration: 1.5 }, 'duration'],
    ['more than a year', { duration: 1e9 }, 'duration'],
    ['a description too long', { duration: 1, description: 'x'.repeat(1001) }, 'description'],
    ['a description of tags only', { duration: 1, description: '<br>' }, 'description'],
    ['an unknown field', { duration: 1, billable: true }, 'billable'],
  ])('with %s are refused by the path of the field', async (_case, body, path) => {
    const refused = await note((await create()).id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });
});

it('needs a task that is not archived, the permission to write, and the revision that was seen', async () => {
  const { id } = await create();
  const calls = [start, stop, (one: string, options = {}) => note(one, { duration: 1 }, options)];
  for (const call of calls) {
    expect(await call(missingTask)).toMatchObject({ status: 404 });
    expect(await call(id, { key: readKey })).toMatchObject({ status: 403 });
    expect(await call(id, { headers: { 'If-Match': '"9"' } })).toMatchObject({
      status: 409,
      body: { details: { expectedRevision: 9 } },
    });
  }
  expect(await remove(id, 'time_1', { key: readKey })).toMatchObject({ status: 403 });
  expect(await note(id, { duration: 1, expectedRevision: 9 })).toMatchObject({ status: 409 });
  await post(`/api/tasks/${id}/archive`);
  expect(await start(id)).toMatchObject({ status: 409, body: { details: { location: 'archive' } } });
});

it('adds up the time by project, the most first, wherever the tasks are', async () => {
  const spend = async (fields: Record<string, unknown>, ...seconds: number[]): Promise<string> => {
    const { id } = await create(fields);
    for (const duration of seconds) {
      await note(id, { duration });
    }
    return id;
  };
  const before = (await board.call('GET', '/api/tasks/time/summary')).body;
  await spend({ project: 'small' }, 10);
  await spend({ project: 'large' }, 1000, 500);
  const moved = await spend({ project: 'large' }, 1);
  await spend({ project: 'untouched' });
  await post(`/api/tasks/${moved}/archive`);
  const { status, body } = await board.call('GET', '/api/tasks/time/summary', { key: readKey });
  expect(status).toBe(200);
  expect(body.total - before.total).toBe(1511);
  expect(body.byProject.filter(({ project }: { project: string }) => project !== '(No Project)')).toEqual([
    { project: 'large', totalSeconds: 1501, taskCount: 2 },
    { project: 'small', totalSeconds: 10, taskCount: 1 },
  ]);
  expect(body.byProject).toContainEqual(expect.objectContaining({ project: '(No Project)' }));
});
