import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const add = (id: string, body: unknown, options = {}) =>
  board.call('POST', `/api/tasks/${id}/observations`, { body, ...options });
const search = (query: string, options = {}) => board.call('GET', `/api/observations${query}`, options);
const contents = (results: { observation: { content: string } }[]) =>
  results.map(({ observation }) => observation.content);

it('notes an observation, answers the task with it and lists it', async () => {
  const { id } = await board.createTask();
  const { status, body } = await add(id, { content: 'The cache is cold', type: 'insight' }, { key: agentKey });
  expect(status).toBe(201);
  expect(body.observations).toEqual([
    {
      id: expect.stringMatching(/^observation_[0-9a-f]{12}$/),
      type: 'insight',
      content: 'The cache is cold',
      score: 5,
      timestamp: expect.any(String),
      agent: 'worker',
    },
  ]);
  expect((await board.call('GET', `/api/tasks/${id}/observations`, { key: readKey })).body).toEqual(body.observations);
});

it('deletes one observation, and keeps the others', async () => {
  const { id } = await board.createTask();
  const [first] = (await add(id, { content: 'one', type: 'context', score: 10, agent: 'ada' })).body.observations;
  await add(id, { content: 'two', type: 'context' });
  const remove = () => board.call('DELETE', `/api/tasks/${id}/observations/${first.id}`);
  expect(first).toMatchObject({ score: 10, agent: 'ada' });
  expect((await remove()).body.observations).toEqual([expect.objectContaining({ content: 'two' })]);
  expect(await remove()).toMatchObject({ status: 404, body: { details: { resource: 'observation', id: first.id } } });
});

it('loses none of thirty observations that are noted at once', async () => {
  const { id } = await board.createTask();
  const all = Array.from({ length: 30 }, (_, number) => `observation ${number}`);
  await Promise.all(all.map((content) => add(id, { content, type: 'context' })));
  const { body } = await board.call('GET', `/api/tasks/${id}/observations`);
  expect(body.map(({ content }: { content: string }) => content).sort()).toEqual([...all].sort());
});

describe('the search', () => {
  const ids: string[] = [];
  beforeAll(async () => {
    for (const [title, content, type, agent] of [
      ['Login', 'Zebra: sessions end EARLY', 'blocker', 'ada'],
      ['Logout', 'zebra: nothing ends', 'insight', 'ada'],
      ['Login', 'Zebra: use cookies', 'decision', 'bob'],
    ] as const) {
      const { id } = await board.createTask({ title: title });
      ids.push(id);
      await add(id, { content, type, agent });
    }
  });

  it.each(['', '/search'])('finds a text whatever its case, the newest first, at /observations%s', async (path) => {
    const { status, body } = await search(`${path}?q=ZEBRA`, { key: readKey });
    expect(status).toBe(200);
    expect(contents(body.results)).toEqual(['Zebra: use cookies', 'zebra: nothing ends', 'Zebra: sessions end EARLY']);
    expect(body.total).toBe(3);
    expect(body.results[2]).toEqual({
      observation: expect.objectContaining({ type: 'blocker', agent: 'ada' }),
      taskId: ids[0],
      taskTitle: 'Login',
    });
  });

  it('filters by type and agent', async () => {
    expect(contents((await search('?q=zebra&type=blocker')).body.results)).toEqual(['Zebra: sessions end EARLY']);
    expect((await search('?q=zebra&agent=ada')).body.total).toBe(2);
    expect((await search('?q=zebra&agent=ADA')).body).toEqual({ results: [], total: 0 });
  });

  it('answers a part of what it finds, and how much that is in all', async () => {
    const { body } = await search('?q=zebra&limit=1&offset=1');
    expect(contents(body.results)).toEqual(['zebra: nothing ends']);
    expect(body.total).toBe(3);
    expect((await search('?q=zebra&offset=3')).body).toEqual({ results: [], total: 3 });
  });

  it('searches active tasks only', async () => {
    const { id } = await board.createTask();
    await add(id, { content: 'quagga', type: 'context' });
    await board.call('DELETE', `/api/tasks/${id}`);
    expect((await search('?q=quagga')).body.total).toBe(0);
  });

  it('knows what a person wrote by hand, without a time or a type', async () => {
    const text = '---\nid: TASK-77\ntitle: By hand\nobservations:\n  - {id: o1, content: okapi}\n---\n';
    await writeFile(join(board.dataDir, 'tasks/active/TASK-77.md'), text);
    await eventually(async () => {
      const { body } = await search('?q=okapi');
      expect(body.results).toEqual([
        {
          observation: { id: 'o1', content: 'okapi', type: 'context', score: 5 },
          taskId: 'TASK-77',
          taskTitle: 'By hand',
        },
      ]);
    });
  });

  it.each(['type=rumour', 'limit=201', 'limit=0', 'offset=-1', 'sort=score', `q=${'x'.repeat(201)}`])(
    'refuses %s by name',
    async (query) => {
      const refused = await search(`/search?${query}`);
      expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, query.split('=')[0]]);
    },
  );
});

it.each([
  ['no content', { type: 'context' }, 'content'],
  ['a content too long', { content: 'x'.repeat(5001), type: 'context' }, 'content'],
  ['a content of tags only', { content: '<br>', type: 'context' }, 'content'],
  ['no type', { content: 'a' }, 'type'],
  ['a score too high', { content: 'a', type: 'context', score: 11 }, 'score'],
  ['a field that is none', { content: 'a', type: 'context', mood: 'good' }, 'mood'],
])('refuses %s by the path of the field', async (_case, body, path) => {
  const { id } = await board.createTask();
  const refused = await add(id, body);
  expect(refused.status).toBe(400);
  expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
});

it('needs a task, the permission to write, and the revision the caller states', async () => {
  const { id } = await board.createTask();
  const body = { content: 'a', type: 'context' };
  expect(await add('task_20260101_nobody', body)).toMatchObject({ status: 404 });
  expect(await add(id, body, { key: readKey })).toMatchObject({ status: 403 });
  expect(await add(id, { ...body, expectedRevision: 9 })).toMatchObject({ status: 409 });
  expect(await board.call('GET', '/api/tasks/task_20260101_nobody/observations')).toMatchObject({ status: 404 });
});
