import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '../../../contracts/tasks/task';
import { eventually } from '../../../platform/testing/eventually';
import { type ApiUnderTest, type Reply, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('task list API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const create = async (fields: Record<string, unknown>): Promise<Task> =>
    (await board.call('POST', '/api/tasks', { body: { title: 'A task', ...fields } })).body as Task;
  const titlesOf = ({ body }: Reply): string[] => (body.tasks as Task[]).map(({ title }) => title);
  const titles = async (query: string): Promise<string[]> => titlesOf(await board.call('GET', `/api/tasks${query}`));

  it('answers an empty board with an empty list', async () => {
    const { status, body } = await board.call('GET', '/api/tasks');
    expect([status, body]).toEqual([200, { tasks: [] }]);
  });

  it('lists what it answered on create, the last changed first, and what changed since', async () => {
    const first = await create({ title: 'first' });
    const second = await create({ title: 'second' });
    expect((await board.call('GET', '/api/tasks')).body).toEqual({ tasks: [second, first] });
    const { body: changed } = await board.call('PATCH', `/api/tasks/${first.id}`, { body: { title: 'first again' } });
    expect((await board.call('GET', '/api/tasks')).body).toEqual({ tasks: [changed, second] });
    await board.call('DELETE', `/api/tasks/${second.id}`);
    expect((await board.call('GET', '/api/tasks')).body).toEqual({ tasks: [changed] });
  });

  it('filters', async () => {
    await create({ title: 'red', status: 'todo', priority: 'high', assignee: 'ada', project: 'p' });
    await create({ title: 'green', status: 'done', priority: 'low', assignee: 'bob', project: 'p' });
    await create({ title: 'blue', status: 'blocked', priority: 'high', sprint: '7' });
    expect(await titles('?status=todo,done')).toEqual(['green', 'red']);
    expect(await titles('?priority=high')).toEqual(['blue', 'red']);
    expect(await titles('?assignee=bob&project=p')).toEqual(['green']);
    expect(await titles('?sprint=7')).toEqual(['blue']);
    expect(await titles('?q=GREE')).toEqual(['green']);
  });

  it('cuts pages and links them', async () => {
    for (const title of ['1', '2', '3', '4', '5']) {
      await create({ title });
    }
    const page = await board.call('GET', '/api/tasks?limit=2&page=2');
    expect(titlesOf(page)).toEqual(['3', '2']);
    expect(page.body.pagination).toEqual({ page: 2, limit: 2, total: 5, totalPages: 3 });
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? '';
    const following = await board.call('GET', next);
    expect(titlesOf(following)).toEqual(['1']);
    expect(following.headers.get('Link')).not.toContain('rel="next"');
  });

  it.each([
    ['?status=nowhere', 'status.0'],
    ['?colour=red', 'colour'],
    ['?limit=0', 'limit'],
    ['?page=one', 'page'],
    ['?status=todo&status=done', 'status'],
  ])('refuses %s', async (query, path) => {
    const refused = await board.call('GET', `/api/tasks${query}`);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues[0].path).toBe(path);
  });

  it('answers 304 until something changes', async () => {
    await create({});
    const { headers } = await board.call('GET', '/api/tasks');
    const tag = headers.get('ETag') ?? '';
    expect(tag).toMatch(/^W\//);
    const known = { headers: { 'If-None-Match': tag } };
    expect((await board.call('GET', '/api/tasks', known)).status).toBe(304);
    await create({});
    expect((await board.call('GET', '/api/tasks', known)).status).toBe(200);
  });

  it('counts columns, backlog and archive', async () => {
    await create({ status: 'done' });
    await create({});
    const { id } = await create({});
    await board.call('DELETE', `/api/tasks/${id}`);
    const { status, body } = await board.call('GET', '/api/tasks/counts');
    expect(status).toBe(200);
    expect(body).toMatchObject({ todo: 1, 'in-progress': 0, blocked: 0, done: 1, backlog: 0 });
  });

  it('names files that cannot be read, keeps its shape and serves the rest', async () => {
    await create({ title: 'fine' });
    const broken = join(board.dataDir, 'tasks', 'active', 'task_20260101_broken-x.md');
    await writeFile(broken, '---\nid: [\n---\n');
    await eventually(async () => {
      const { body, headers } = await board.call('GET', '/api/tasks');
      expect(headers.get('X-Board-Task-Identity-Conflicts')).toBeNull();
      expect(body.tasks).toHaveLength(1);
      expect(body.meta.taskIdentityDiagnostics).toHaveLength(1);
    });
  });

  it('counts identities that are claimed twice, not the files that claim them', async () => {
    const github = { issueNumber: 7, repo: 'acme/atlas' };
    const { id } = await create({ title: 'original', github });
    const active = join(board.dataDir, 'tasks', 'active');
    const name = (await readdir(active)).find((file) => file.startsWith(id)) ?? '';
    const text = await readFile(join(active, name), 'utf8');
    for (const copy of [1, 2]) {
      await writeFile(join(active, `${id}-copy-${copy}.md`), text);
    }
    await eventually(async () => {
      const { body, headers } = await board.call('GET', '/api/tasks');
      expect(body.meta?.taskIdentityDiagnostics).toHaveLength(3);
      expect(headers.get('X-Board-Task-Identity-Conflicts')).toBe('1');
    });
    const other = text.replace(/^id: .*$/m, 'id: task_20260101_other1');
    await writeFile(join(active, 'task_20260101_other1-original.md'), other);
    await eventually(async () => {
      const { headers } = await board.call('GET', '/api/backlog');
      expect(headers.get('X-Board-Task-Identity-Conflicts')).toBe('2');
    });
  });
});
