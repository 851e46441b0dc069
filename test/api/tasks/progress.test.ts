import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stored } from '../../../stores/port/collection';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const call = (method: string, id: string, body?: unknown, options = {}) =>
  board.call(method, `/api/tasks/${id}/progress${method === 'POST' ? '/append' : ''}`, { body, ...options });
const contentOf = async (id: string): Promise<string> => (await call('GET', id)).body.content;
const fileOf = (id: string) => join(board.dataDir, 'tasks/progress', `${id}.md`);

it('is empty, is written whole, and leaves the task at its revision', async () => {
  const { id } = await board.createTask();
  expect((await call('GET', id)).body).toEqual({ content: '' });
  const content = '# So far\n\nNothing — yet.';
  expect(await call('PUT', id, { content }, { key: agentKey })).toMatchObject({ status: 200, body: { success: true } });
  expect((await call('GET', id, undefined, { key: readKey })).body).toEqual({ content });
  expect(await readFile(fileOf(id), 'utf8')).toBe(content);
  expect((await board.call('GET', `/api/tasks/${id}`)).body.revision).toBe(1);
});

it('is appended to under a heading that is made when it is missing', async () => {
  const { id } = await board.createTask();
  await call('POST', id, { section: 'Done', content: 'first' });
  await call('POST', id, { section: 'Next', content: '- later' });
  const { status, body } = await call('POST', id, { section: ' Done ', content: 'second' });
  expect([status, body]).toEqual([200, { success: true }]);
  expect(await contentOf(id)).toBe('## Done\n\nfirst\n\nsecond\n\n## Next\n\n- later\n');
});

describe('under a key, by a process that dies after it has written the file', () => {
  const under = (id: string, key: string, body: object) =>
    call('POST', id, body, { headers: { 'Idempotency-Key': key } });
  /** The state that such a process leaves: a key with an expired lock and no response. */
  const die = async (): Promise<void> => {
    const keys = await board.api.context.database.collection<Stored & { heldUntil: string; answer?: unknown }>({
      name: 'idempotency-keys',
    });
    await keys.updateMany({ _id: { $gt: '' } }, { $set: { heldUntil: '' }, $unset: { answer: '' } });
  };

  it('is appended to once, also when others have written meanwhile', async () => {
    const { id } = await board.createTask();
    const entry = { section: 'Done', content: 'once' };
    await under(id, 'first', entry);
    await die();
    await under(id, 'second', { section: 'Done', content: 'another' });
    expect(await under(id, 'first', entry)).toMatchObject({ status: 200, body: { success: true } });
    const content = (await contentOf(id)).replace(/<!-- added [0-9a-f]{16} -->/g, '*');
    expect(content).toBe('## Done\n\nonce\n\n*\n\nanother\n\n*\n');
  });

  it('has the same entry twice under two keys', async () => {
    const { id } = await board.createTask();
    const entry = { section: 'Done', content: 'same' };
    for (const key of ['one', 'two', 'one']) {
      await under(id, key, entry);
    }
    expect((await contentOf(id)).match(/same/g)).toHaveLength(2);
  });
});

it('keeps what a person writes into the file', async () => {
  const { id } = await board.createTask();
  await call('POST', id, { section: 'Done', content: 'first' });
  await writeFile(fileOf(id), '## Done\n\nby hand\n');
  await call('POST', id, { section: 'Done', content: 'second' });
  expect(await contentOf(id)).toBe('## Done\n\nby hand\n\nsecond\n');
});

it('loses none of thirty entries that are appended at once', async () => {
  const { id } = await board.createTask();
  const entries = Array.from({ length: 30 }, (_, number) => `entry ${number}.`);
  await Promise.all(entries.map((content, number) => call('POST', id, { section: `Part ${number % 3}`, content })));
  const content = await contentOf(id);
  expect(entries.filter((entry) => !content.includes(entry))).toEqual([]);
  expect(content.match(/^## Part \d$/gm)?.sort()).toEqual(['## Part 0', '## Part 1', '## Part 2']);
});

it('has a limit, which appending does not get past', async () => {
  const { id } = await board.createTask();
  const content = 'x'.repeat(200_000);
  expect(await call('PUT', id, { content: `${content}x` })).toMatchObject({
    status: 400,
    body: { details: { issues: [expect.objectContaining({ path: 'content' })] } },
  });
  expect(await call('PUT', id, { content })).toMatchObject({ status: 200 });
  expect(await call('POST', id, { section: 'Done', content: 'x' })).toMatchObject({
    status: 413,
    body: { code: 'PAYLOAD_TOO_LARGE', details: { limit: 200_000 } },
  });
  expect(await contentOf(id)).toBe(content);
});

it('is gone with its task', async () => {
  const { id } = await board.createTask();
  await call('PUT', id, { content: 'x' });
  await board.call('DELETE', `/api/tasks/${id}`);
  expect(await call('GET', id)).toMatchObject({ status: 404 });
  await expect(readFile(fileOf(id))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('reports it when its file cannot be read', async () => {
  const { id } = await board.createTask();
  await writeFile(fileOf(id), 'a\u0000b');
  const refused = await call('GET', id);
  expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining('NUL') } });
  expect(await call('POST', id, { section: 'a', content: 'b' })).toMatchObject({ status: 409 });
});

it.each([
  ['PUT', {}, 'content'],
  ['PUT', { content: 'a\u0000' }, 'content'],
  ['PUT', { content: 'a', section: 'b' }, 'section'],
  ['POST', { content: 'a' }, 'section'],
  ['POST', { section: 'a\n## b', content: 'a' }, 'section'],
  ['POST', { section: 'a\rb', content: 'a' }, 'section'],
  ['POST', { section: '  ', content: 'a' }, 'section'],
  ['POST', { section: 'x'.repeat(201), content: 'a' }, 'section'],
  ['POST', { section: 'a', content: ' \n ' }, 'content'],
])('refuses a %s of %j by the path of the field', async (method, body, path) => {
  const { id } = await board.createTask();
  const refused = await call(method, id, body);
  expect(refused.status).toBe(400);
  expect(refused.body.details.issues).toContainEqual(expect.objectContaining({ path }));
  expect(await contentOf(id)).toBe('');
});

it('needs a task and the permission to write', async () => {
  const { id } = await board.createTask();
  for (const method of ['GET', 'PUT', 'POST']) {
    const body = { PUT: { content: 'a' }, POST: { section: 'a', content: 'a' } }[method];
    expect(await call(method, 'task_20260101_nobody', body)).toMatchObject({ status: 404 });
    if (body) {
      expect(await call(method, id, body, { key: readKey })).toMatchObject({ status: 403 });
    }
  }
});
