import { agentKey, type ApiUnderTest, type Reply, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('changes API', () => {
  beforeEach(async () => {
    board = await startTestApi();
  });
  afterEach(() => board.close());

  const call = (method: string, path: string, body?: unknown) =>
    board.call(method, `/api${path}`, { body, key: agentKey });
  const longAgo = '2020-01-01T00:00:00Z';
  const changes = (query: string, headers = {}) =>
    board.call('GET', `/api/changes?${query}`, { key: agentKey, headers });

  it('reports what was made and changed since', async () => {
    const { id } = (await call('POST', '/tasks', { title: 'A task', description: 'long' })).body;
    await call('POST', `/tasks/${id}/comments`, { text: 'hm' });
    const { body: word } = await call('POST', '/broadcasts', { message: 'Stop' });
    const { body } = await changes(`since=${longAgo}`);
    expect(body).toMatchObject({
      since: new Date(longAgo).toISOString(),
      changes: {
        tasks: { created: [{ id, title: 'A task', status: 'todo' }], updated: [] },
        comments: [{ taskId: id, comment: { text: 'hm' } }],
        activity: [{ type: 'comment_added' }, { type: 'task_created' }],
        broadcasts: [word],
      },
      summary: { totalChanges: 5, breakdown: { tasksCreated: 1, tasksUpdated: 0, comments: 1 }, truncated: false },
    });
    expect(body.changes.tasks.created[0].description).toBeUndefined();
    const full = await changes(`since=${longAgo}&full=true&types=tasks`);
    expect(full.body.changes.tasks.created[0]).toMatchObject({ description: 'long' });
    expect(full.body.changes).toMatchObject({ comments: [], activity: [], broadcasts: [] });
  });

  it('reports an existing task as changed', async () => {
    const { id, createdAt } = (await call('POST', '/tasks', { title: 'A task' })).body;
    await call('PATCH', `/tasks/${id}`, { title: 'B' });
    const { body } = await changes(`since=${createdAt}&types=tasks`);
    expect(body.changes.tasks).toMatchObject({ created: [], updated: [{ id, title: 'B' }] });
  });

  it('misses nothing for one who asks again with until', async () => {
    let since = longAgo;
    const received = new Set<string>();
    for (let n = 0; n < 5; n += 1) {
      await call('POST', '/tasks', { title: `Task ${n}` });
      const { body } = await changes(`since=${since}&types=tasks`);
      for (const { id } of body.changes.tasks.created) {
        received.add(id);
      }
      expect(body.until <= new Date().toISOString()).toBe(true);
      since = body.until;
    }
    expect(received.size).toBe(5);
  });

  it('is not sent again while nothing changes', async () => {
    await call('POST', '/tasks', { title: 'A task' });
    const first = await changes(`since=${longAgo}`);
    const tag = first.headers.get('ETag') ?? '';
    expect(tag).toMatch(/^W\/"changes:/);
    expect((await changes(`since=${longAgo}`, { 'If-None-Match': tag })).status).toBe(304);
    await call('POST', '/tasks', { title: 'Another' });
    expect((await changes(`since=${longAgo}`, { 'If-None-Match': tag })).status).toBe(200);
  });

  it('reports when there is more than it returns', async () => {
    const words = Array.from({ length: 501 }, (_, n) => n);
    for (let from = 0; from < words.length; from += 50) {
      await Promise.all(words.slice(from, from + 50).map((n) => call('POST', '/broadcasts', { message: `${n}` })));
    }
    const { body, headers } = await changes(`since=${longAgo}&types=broadcasts`);
    expect(body.changes.broadcasts).toHaveLength(500);
    expect(body.summary).toMatchObject({ truncated: true, totalChanges: 500 });
    const rest = await changes(`since=${longAgo}&types=broadcasts&cursor=${headers.get('x-next-cursor')}`);
    expect(rest.body.changes.broadcasts).toHaveLength(1);
    expect(rest.body.summary).toMatchObject({ truncated: false, totalChanges: 1 });
    expect(rest.body.nextCursor).toBeUndefined();
  });

  const idsOf = ({ changes: { tasks, comments, activity, broadcasts } }: Reply['body']): string[] => {
    const records: { id: string }[] = [...tasks.created, ...tasks.updated, ...activity, ...broadcasts];
    return [...records.map(({ id }) => id), ...comments.map((each: { comment: { id: string } }) => each.comment.id)];
  };

  async function someOfEachKind(): Promise<string[]> {
    for (let n = 0; n < 3; n += 1) {
      const { id } = (await call('POST', '/tasks', { title: `Task ${n}` })).body;
      await Promise.all([
        call('POST', `/tasks/${id}/comments`, { text: 'hm' }),
        call('POST', '/broadcasts', { message: `${n}` }),
      ]);
    }
    const ids = idsOf((await changes(`since=${longAgo}`)).body);
    expect(ids.length).toBeGreaterThanOrEqual(15);
    return ids.sort();
  }

  it.each([1, 2, 4])('is read to its end by its link, every change of any kind once, %i at a time', async (limit) => {
    const ids = await someOfEachKind();
    const seen: string[] = [];
    const until: string[] = [];
    for (let query: string | undefined = `since=${longAgo}&limit=${limit}`; query !== undefined;) {
      const page: Reply = await changes(query);
      expect(page.body.summary.totalChanges).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(page.body));
      until.push(page.body.until);
      query = /\?([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      expect(page.body.summary.truncated).toBe(query !== undefined);
    }
    expect(seen.sort()).toEqual(ids);
    expect(until).toEqual([...until].sort());
  });

  it('states until when it was complete, of which the last page knows what the first one did', async () => {
    await someOfEachKind();
    const before = Date.now();
    const first = await changes(`since=${longAgo}&limit=1`);
    const [at] = first.body.changes.tasks.created.concat(first.body.changes.activity);
    expect(Date.parse(first.body.until)).toBeLessThan(Date.parse(at.updatedAt ?? at.timestamp));
    const cursor = JSON.parse(Buffer.from(first.body.nextCursor, 'base64url').toString());
    const longAsked = { ...cursor, id: cursor.id.replace(/^\d+/, String(before - 60_000)) };
    const rest = await changes(
      `since=${longAgo}&limit=500&cursor=${Buffer.from(JSON.stringify(longAsked)).toString('base64url')}`,
    );
    expect(rest.body.until).toBe(new Date(before - 65_000).toISOString());
  });

  it.each([
    ['of no place', { id: 'tasks:x' }],
    ['of no kind', { id: '1/rumours:x' }],
    ['of no time', { key: 9e15 }],
    ['of a year with five digits', { key: Date.parse('+010000-01-01T00:00:00.000Z') }],
    ['of a time that is a text', { key: 'now' }],
  ])('refuses a cursor %s', async (_case, other) => {
    await someOfEachKind();
    const { nextCursor } = (await changes(`since=${longAgo}&limit=1`)).body;
    const content = { ...JSON.parse(Buffer.from(nextCursor, 'base64url').toString()), ...other };
    const { status, body } = await changes(
      `since=${longAgo}&cursor=${Buffer.from(JSON.stringify(content)).toString('base64url')}`,
    );
    expect(status).toBe(400);
    expect(body.details.issues).toEqual([expect.objectContaining({ path: 'cursor' })]);
  });

  it.each([
    ['no time', '', 'since'],
    ['a time that is none', 'since=yesterday', 'since'],
    ['an unknown kind', `since=${longAgo}&types=tasks,rumours`, 'types.1'],
    ['a field that is none', `since=${longAgo}&deep=true`, 'deep'],
  ])('refuses %s by the path of the field', async (_case, query, path) => {
    const refused = await changes(query);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs a key', async () => {
    expect((await board.call('GET', `/api/changes?since=${longAgo}`, { key: null })).status).toBe(401);
  });
});
