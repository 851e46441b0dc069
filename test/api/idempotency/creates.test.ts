import { randomUUID } from 'node:crypto';
import type { OpenApiDocument } from '../../../platform/http/routing/openapi';
import type { Stored } from '../../../stores/port/collection';
import { agentKey, type ApiUnderTest, type Reply, startWholeTestApi } from '../api-under-test';
import { creates, elsewhere, makeSubjects, type Subjects } from './creates';
import { storedRows } from './stored-rows';

let board: ApiUnderTest;
let subjects: Subjects;
beforeAll(async () => {
  board = await startWholeTestApi();
  subjects = await makeSubjects(board, 'Subject');
});
afterAll(() => board.close());

const send = (path: string, body: object, key: string, caller?: string): Promise<Reply> =>
  board.call('POST', path, { body, headers: { 'Idempotency-Key': key }, ...(caller && { key: caller }) });

type KeyRecord = Stored & { heldUntil: string; answer?: unknown };

/** The state after a process died between its work and its response: a key with an expired lock and no response. */
async function loseTheAnswers(): Promise<void> {
  const keys = await board.api.context.database.collection<KeyRecord>({ name: 'idempotency-keys' });
  await keys.updateMany({ _id: { $gt: '' } }, { $set: { heldUntil: '' }, $unset: { answer: '' } });
}

const tasksThere = (): number => Object.values(board.api.context.board.counts()).reduce((sum, count) => sum + count, 0);

it('every create of the OpenAPI document takes Idempotency-Key, or reports by which rule it is done once', async () => {
  const { paths } = (await board.call('GET', '/api/openapi.json')).body as OpenApiDocument;
  const made = Object.values(paths).flatMap(({ post }) => (post && '201' in (post.responses as object) ? [post] : []));
  const names = made.map(({ operationId }) => String(operationId));
  expect([...Object.keys(creates), ...Object.keys(elsewhere)]).toEqual(expect.arrayContaining(names));
  const takers = made.filter(({ parameters }) =>
    (parameters as { name: string }[]).some(({ name }) => name === 'Idempotency-Key'),
  );
  // Their response has a secret that is stored nowhere.
  expect(names.filter((name) => !takers.some(({ operationId }) => operationId === name)).sort()).toEqual([
    'acceptInvitationAsNewUser',
    'createApiToken',
    'createInvitation',
    'createPairingCode',
    'exchangePairingCode',
    'renewCallbackSecret',
  ]);
  expect(made.filter(({ responses }) => !('507' in (responses as object)))).toEqual([]);
});

describe.each(Object.keys(creates))('%s', (operationId) => {
  it('is done once under a key, by ten callers at once, and when its process dies before it answers', async () => {
    const [path, body] = creates[operationId]?.(subjects) ?? ['', {}];
    const key = randomUUID();
    const racing = await Promise.all(Array.from({ length: 10 }, () => send(path, body, key)));
    const [first] = racing.filter(({ status }) => status !== 409);
    if (!first) {
      throw new Error(`None of ten callers was served: ${JSON.stringify(racing[0]?.body)}`);
    }
    for (const one of racing) {
      expect(one.status === 409 ? one.body.code : one.body).toEqual(
        one.status === 409 ? 'IDEMPOTENCY_KEY_IN_USE' : first.body,
      );
    }
    expect([first.status, first.body]).toEqual([expect.any(Number), expect.anything()]);
    expect(first.status).toBeLessThan(300);
    const [rows, tasks] = [await storedRows(board), tasksThere()];

    const again = await send(path, body, key);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(again.headers.get('Idempotency-Replayed')).toBe('true');
    for (const name of ['location', 'etag']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }

    await loseTheAnswers();
    const repeated = await send(path, body, key);
    expect([repeated.status, repeated.body]).toEqual([first.status, first.body]);
    expect(repeated.headers.get('Idempotency-Replayed')).toBeNull();
    expect([await storedRows(board), tasksThere()]).toEqual([rows, tasks]);

    expect(await send(path, { ...body, extra: 'field' }, key)).toMatchObject({ status: 400 });
  });
});

describe('an idempotency key', () => {
  const create = (title: string, key: string, caller?: string) => send('/api/tasks', { title }, key, caller);

  it('belongs to its request: another body is 409, another caller or route has keys of its own', async () => {
    const first = await create('Mine', 'shared-key');
    expect(await create('Another', 'shared-key')).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    const other = await create('Mine', 'shared-key', agentKey);
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(first.body.id);
    expect((await send('/api/broadcasts', { message: 'Mine' }, 'shared-key')).status).toBe(201);
  });

  it('is free again after a request that was refused', async () => {
    const path = `/api/tasks/${subjects.taskId}/comments`;
    expect((await send('/api/tasks/task_20200101_aaaaaa/comments', { text: 'a' }, 'refused')).status).toBe(404);
    expect((await send('/api/tasks/task_20200101_aaaaaa/comments', { text: 'b' }, 'refused')).status).toBe(404);
    expect((await send(path, { text: '' }, 'invalid')).status).toBe(400);
    expect((await send(path, { text: 'valid' }, 'invalid')).status).toBe(201);
  });

  it.each([
    ['spaces', 'a key'],
    ['more than 200 characters', 'k'.repeat(201)],
  ])('is 400 with %s', async (_what, key) => {
    const refused = await create('a', key);
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'Idempotency-Key' }] } } });
  });

  it('may be sent as X-Idempotency-Key, but not as two keys', async () => {
    const one = await create('Older header', 'older');
    const call = (headers: Record<string, string>) =>
      board.call('POST', '/api/tasks', { body: { title: 'Older header' }, headers });
    expect((await call({ 'X-Idempotency-Key': 'older' })).body.id).toBe(one.body.id);
    expect((await call({ 'X-Idempotency-Key': 'older', 'Idempotency-Key': 'newer' })).status).toBe(400);
  });

  it('of several at once is used by one; the others get its answer, or 409 with Retry-After until there is one', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => create('At once', 'at-once')));
    const made = replies.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => String(body.id))).size).toBe(1);
    for (const { status, body, headers } of replies.filter((reply) => reply.status !== 201)) {
      expect([status, body.code, headers.get('Retry-After')]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE', '1']);
    }
    expect((await create('At once', 'at-once')).body).toEqual(made[0]?.body);
  });

  it('has one entry of activity and one of the audit log, however often the answer is lost', async () => {
    const { body } = await create('Recorded once', 'recorded');
    for (let n = 0; n < 3; n += 1) {
      await loseTheAnswers();
      expect((await create('Recorded once', 'recorded')).body).toEqual(body);
    }
    const audit = await board.call('GET', `/api/audit?resource=${body.id}`);
    expect(audit.body.entries).toHaveLength(1);
    expect((await board.call('GET', `/api/activity?taskId=${body.id}`)).body).toHaveLength(1);
  });

  it('covers the files of a form', async () => {
    const attach = async (text: string): Promise<{ status: number; body: { attachments: { id: string }[] } }> => {
      const form = new FormData();
      form.append('files', new Blob([text]), 'notes.txt');
      const headers = { 'X-API-Key': 'admin-key-of-this-test-0123456789abcdef', 'Idempotency-Key': 'files' };
      const sent = await fetch(`${board.url}/api/tasks/${subjects.taskId}/attachments`, {
        method: 'POST',
        headers,
        body: form,
      });
      return { status: sent.status, body: (await sent.json()) as { attachments: { id: string }[] } };
    };
    const first = await attach('one');
    expect(first.status).toBe(201);
    expect(await attach('one')).toEqual(first);
    await loseTheAnswers();
    expect((await attach('one')).body.attachments).toEqual(first.body.attachments);
    expect((await attach('two')).status).toBe(409);
  });
});
