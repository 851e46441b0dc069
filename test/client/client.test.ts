import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBoardClient, unwrap } from '../../clients/typescript/src';
import { adminKey, type ApiUnderTest, startTestApi } from '../api/api-under-test';

describe('client of the board', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startTestApi();
  });
  afterAll(() => board.close());

  it('creates, reads and lists tasks', async () => {
    const client = createBoardClient({ url: board.url, key: adminKey });
    const task = await unwrap(client.POST('/api/tasks', { body: { title: 'Mend the door' } }));
    const path = { taskId: task.id };
    expect(await unwrap(client.GET('/api/tasks/{taskId}', { params: { path } }))).toEqual(task);
    const { tasks } = await unwrap(client.GET('/api/tasks', { params: { query: { status: 'todo' } } }));
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it('reads a response by its media type, unless the caller states how', async () => {
    const client = createBoardClient({ url: board.url, key: adminKey });
    const daily = (format?: 'json' | 'markdown') =>
      unwrap(client.GET('/api/digest/daily', { params: { query: { format } } }));
    expect(await daily('markdown')).toMatch(/^# Daily digest\n/);
    expect(await daily()).toMatchObject({ period: expect.anything() });
    const query = { format: 'csv' as const };
    expect(await unwrap(client.GET('/api/telemetry/export', { params: { query } }))).toMatch(/^id,type,/);
    const text = await unwrap(client.GET('/api/digest/daily', { params: { query: {} }, parseAs: 'text' }));
    expect(JSON.parse(text)).toMatchObject({ period: expect.anything() });
    const manifest = await client.GET('/api/workspace-capabilities/manifest/export', {
      params: { query: { format: 'yaml' } },
    });
    expect(manifest.data).toMatch(/^schemaVersion: /m);
    expect(manifest.response.headers.get('Content-Type')).toBe('application/yaml; charset=utf-8');
  });

  it('throws a refusal with its status, code and sentence', async () => {
    const client = createBoardClient({ url: board.url, key: adminKey });
    const path = { taskId: 'task_20260101_nobody' };
    await expect(unwrap(client.GET('/api/tasks/{taskId}', { params: { path } }))).rejects.toMatchObject({
      name: 'BoardError',
      status: 404,
      code: 'NOT_FOUND',
    });
    const anonymous = createBoardClient({ url: board.url });
    await expect(unwrap(anonymous.GET('/api/tasks'))).rejects.toMatchObject({ status: 401 });
  });
});

describe('client of a board that loses connections', () => {
  let server: Server;
  let received: { method: string | undefined; headers: IncomingHttpHeaders }[];
  let losses: number;
  beforeEach(async () => {
    received = [];
    server = createServer(({ method, headers, socket }, response) => {
      received.push({ method, headers });
      if (received.length <= losses) {
        return socket.destroy();
      }
      return response.setHeader('Content-Type', 'application/json').end('{"id":"task_20260101_abcdef"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const client = () => createBoardClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const keys = () => received.map(({ headers }) => headers['idempotency-key']);

  it('sends the key of a body as its header too, which wins over a body', async () => {
    losses = 0;
    const options = { params: { path: { taskId: 'task_20260101_abcdef' } }, body: { idempotencyKey: 'key-of-mine' } };
    await unwrap(client().POST('/api/agents/{taskId}/start', options));
    expect(keys()).toEqual(['key-of-mine']);
  });

  it('repeats a POST under one key', async () => {
    losses = 2;
    await unwrap(client().POST('/api/tasks', { body: { title: 'Mend the door' } }));
    expect(keys()).toEqual(Array(3).fill(expect.stringMatching(/^[\da-f-]{36}$/)));
    expect(new Set(keys()).size).toBe(1);
  });

  it('uses the key of its caller', async () => {
    losses = 0;
    const params = { header: { 'Idempotency-Key': 'door-1' } };
    await unwrap(client().POST('/api/tasks', { params, body: { title: 'Mend the door' } }));
    expect(keys()).toEqual(['door-1']);
  });

  it('does not repeat a change that has no key', async () => {
    losses = 1;
    const change = client().PATCH('/api/tasks/{taskId}', {
      params: { path: { taskId: 'task_20260101_abcdef' } },
      body: {},
    });
    await expect(change).rejects.toThrow('fetch failed');
    expect(received).toHaveLength(1);
  });

  it('waits when the board asks for it, as long as it is permitted to', async () => {
    losses = 0;
    let refusals = 2;
    const own = createServer(({ headers }, response) => {
      received.push({ method: 'POST', headers });
      refusals -= 1;
      const isRefused = refusals >= 0;
      response.writeHead(isRefused ? 503 : 200, {
        'Content-Type': 'application/json',
        ...(isRefused ? { 'Retry-After': refusals === 1 ? '0' : '1' } : {}),
      });
      response.end(isRefused ? '{"error":"away","details":{}}' : '{"id":"task_20260101_abcdef"}');
    });
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}`;
      const create = (maxRetryAfterMs?: number) =>
        unwrap(
          createBoardClient({ url, ...(maxRetryAfterMs === undefined ? {} : { maxRetryAfterMs }) }).POST('/api/tasks', {
            body: { title: 'Mend the door' },
          }),
        );
      expect(await create(1_000)).toMatchObject({ id: 'task_20260101_abcdef' });
      expect(new Set(keys()).size).toBe(1);
      expect(received.length).toBe(3);
      for (const permitted of [undefined, 999]) {
        refusals = 1;
        await expect(create(permitted)).rejects.toMatchObject({ status: 503 });
      }
    } finally {
      await new Promise((resolve) => own.close(resolve));
    }
  });
});
