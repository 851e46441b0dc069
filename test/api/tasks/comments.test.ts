import { readdir, readFile, writeFile } from 'node:fs/promises';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
describe('comments API', () => {
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  const comment = (id: string, body: unknown, options = {}) =>
    board.call('POST', `/api/tasks/${id}/comments`, { body, ...options });

  it('adds a comment and answers the task with it', async () => {
    const { id } = await board.createTask();
    const { status, body, headers } = await comment(id, { author: 'ada', text: 'Looks <b>good</b>' });
    expect(status).toBe(201);
    expect(body.comments).toEqual([
      expect.objectContaining({ author: 'ada', text: 'Looks good', revision: 1, createdBy: 'service:admin' }),
    ]);
    expect(headers.get('X-Resource-Revision')).toBe('2');
    expect((await board.call('GET', `/api/tasks/${id}/comments`)).body).toEqual(body.comments);
  });

  it('takes the caller for the author who is not named', async () => {
    const { id } = await board.createTask();
    const { body } = await comment(id, { text: 'Done' }, { key: agentKey });
    expect(body.comments[0]).toMatchObject({ author: 'worker', createdBy: 'agent:worker' });
  });

  it('changes and deletes a comment, and keeps the others', async () => {
    const { id } = await board.createTask();
    await comment(id, { author: 'ada', text: 'first' });
    const [, second] = (await comment(id, { author: 'bob', text: 'second' })).body.comments;
    const changed = await board.call('PATCH', `/api/tasks/${id}/comments/${second.id}`, { body: { text: 'better' } });
    expect(changed.body.comments).toEqual([
      expect.objectContaining({ text: 'first', revision: 1 }),
      expect.objectContaining({ id: second.id, author: 'bob', text: 'better', revision: 2 }),
    ]);
    const gone = await board.call('DELETE', `/api/tasks/${id}/comments/${second.id}`);
    expect(gone.body.comments).toEqual([expect.objectContaining({ text: 'first' })]);
    const again = await board.call('DELETE', `/api/tasks/${id}/comments/${second.id}`);
    expect(again).toMatchObject({ status: 404, body: { details: { resource: 'comment', id: second.id } } });
  });

  it('reads, changes and joins a comment that was written by hand with an id and a text alone', async () => {
    const { id } = await board.createTask();
    const [file = ''] = (await readdir(`${board.dataDir}/tasks/active`)).filter((name) => name.startsWith(id));
    const path = `${board.dataDir}/tasks/active/${file}`;
    const written = await readFile(path, 'utf8');
    await writeFile(path, written.replace('created:', 'comments: [{id: c1, text: hi}]\ncreated:'));
    const read = await board.call('GET', `/api/tasks/${id}/comments`);
    expect(read.body).toMatchObject([{ id: 'c1', text: 'hi', author: 'unknown', revision: 1 }]);
    expect(Math.abs(Date.parse(read.body[0].timestamp) - Date.now())).toBeLessThan(60_000);
    const { body } = await comment(id, { author: 'ada', text: 'second' });
    expect(body.comments).toEqual([...read.body, expect.objectContaining({ text: 'second' })]);
    const changed = await board.call('PATCH', `/api/tasks/${id}/comments/c1`, { body: { text: 'better' } });
    expect(changed.body.comments[0]).toMatchObject({ text: 'better', timestamp: read.body[0].timestamp, revision: 2 });
  });

  it('loses none of fifty comments that are written at once', async () => {
    const { id } = await board.createTask();
    const texts = Array.from({ length: 50 }, (_, number) => `comment ${number}`);
    const replies = await Promise.all(texts.map((text) => comment(id, { author: 'ada', text })));
    expect(replies.map(({ status }) => status)).toEqual(texts.map(() => 201));
    const { body } = await board.call('GET', `/api/tasks/${id}/comments`);
    expect(body.map(({ text }: { text: string }) => text).sort()).toEqual([...texts].sort());
  });

  it('lets exactly one of several writers with the same revision win', async () => {
    const { id } = await board.createTask();
    const headers = { 'If-Match': `"task:${id}:1"` };
    const replies = await Promise.all(Array.from({ length: 6 }, () => comment(id, { text: 'mine' }, { headers })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status, body }) => status === 409 && body.code === 'CONFLICT')).toHaveLength(5);
    expect(await comment(id, { text: 'mine', expectedRevision: 1 })).toMatchObject({ status: 409 });
  });

  it.each([
    ['no text', {}, 'text'],
    ['an empty text', { text: '' }, 'text'],
    ['a text that is nothing but tags', { text: '<br>' }, 'text'],
    ['a text too long', { text: 'x'.repeat(2001) }, 'text'],
    ['an author too long', { author: 'x'.repeat(101), text: 'a' }, 'author'],
    ['a field that is none', { text: 'a', mood: 'good' }, 'mood'],
  ])('refuses %s by the path of the field', async (_case, body, path) => {
    const { id } = await board.createTask();
    const refused = await comment(id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  });

  it('needs a task and the permission to comment', async () => {
    const { id } = await board.createTask();
    expect(await comment('task_20260101_nobody', { text: 'hello' })).toMatchObject({ status: 404 });
    expect(await comment(id, { text: 'hello' }, { key: readKey })).toMatchObject({ status: 403 });
    expect(await board.call('GET', `/api/tasks/${id}/comments`, { key: readKey })).toMatchObject({
      status: 200,
      body: [],
    });
  });

  it('keeps the comments of a task in its file', async () => {
    const { id } = await board.createTask();
    await comment(id, { author: 'ada', text: 'with: colons\n- and lists' });
    const other = await board.call('GET', `/api/tasks/${id}`);
    expect(other.body.comments).toEqual([expect.objectContaining({ text: 'with: colons\n- and lists' })]);
  });
});
