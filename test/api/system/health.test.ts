import { createApp } from '../../../api/app';
import type { LaunchFinding } from '../../../contracts/runs/launch/manifest';
import { listen } from '../../../platform/http/server/server';
import { StoreUnavailableError } from '../../../stores/port/errors';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import { type ApiUnderTest, startTestApi } from '../api-under-test';

let board: ApiUnderTest;
beforeEach(async () => {
  board = await startTestApi();
});
afterEach(() => board.close());

it.each(['/health', '/health/live'])('%s responds without a key, with whatever a load balancer adds', async (path) => {
  const { status, body } = await board.call('GET', `${path}?probe=1`, { key: null });
  expect([status, body]).toEqual([200, { status: 'ok', timestamp: expect.any(String) }]);
});

it('/api/health names the service and its version', async () => {
  const { body } = await board.call('GET', '/api/health', { key: null });
  expect(body).toEqual({
    ok: true,
    service: 'runboard',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    uptimeMs: expect.any(Number),
    timestamp: expect.any(String),
  });
});

it('/health/ready checks the dependencies of the service', async () => {
  const { status, body } = await board.call('GET', '/health/ready', { key: null });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'ok', checks: { storage: 'ok', memory: 'ok', disk: 'ok' } });
});

it('/health/ready notices that no live worker has git', async () => {
  const hosts = await createHostStore(board.api.context.database);
  const announce = (findings: LaunchFinding[], workerId = 'one') =>
    hosts.announceWorker('here', {
      hostname: 'here',
      workerId,
      capacity: { runs: 1, processes: 1, memoryMb: 1 },
      queues: [],
      draining: false,
      reservedRuns: 0,
      findings,
    });
  const { git } = board.api.context.checks;
  await announce([{ code: 'git-missing', message: 'No git.', program: 'git', remedy: 'Install git.' }]);
  await expect(git?.()).rejects.toThrow(/Install git/);
  const { status, body } = await board.call('GET', '/health/ready', { key: null });
  expect([status, body.checks.git]).toEqual([503, 'failed']);
  await announce([], 'two');
  await expect(git?.()).resolves.toBeUndefined();
});

it.each(['/', '/api', '/api/v1'])('%s names the entry points, without a key', async (path) => {
  const { status, body } = await board.call('GET', path, { key: null });
  expect([status, body.service]).toEqual([200, 'runboard']);
  const { watch: _socket, authentication: _forKeys, ...links } = body.links;
  for (const link of Object.values<string>(links)) {
    expect([link, (await board.call('GET', link, { key: null })).status]).toEqual([link, 200]);
  }
});

describe('when something is wrong', () => {
  /** The same API with other checks, or with routes that fail. */
  const serve = async (...[context, options]: Parameters<typeof createApp>) => {
    const server = await listen(createApp(context, options).app.callback(), { host: '127.0.0.1', port: 0 });
    const ask = async (path: string) => {
      const response = await fetch(`${server.url}${path}`);
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
    return { ask, close: () => server.close() };
  };

  it('readiness is 503 and names the check, not the reason', async () => {
    const checks = { storage: () => Promise.reject(new Error('secret host')), disk: () => Promise.resolve(undefined) };
    const server = await serve({ ...board.api.context, checks });
    const { status, body } = await server.ask('/health/ready');
    expect(status).toBe(503);
    expect(body).toMatchObject({ status: 'unavailable', checks: { storage: 'failed', disk: 'ok' } });
    expect(JSON.stringify(body)).not.toContain('secret');
    expect((await server.ask('/health/live')).status).toBe(200);
    await server.close();
  });

  it('checks are shared by callers that ask at once, and one that hangs fails', async () => {
    let asked = 0;
    const checks = {
      storage: () => {
        asked += 1;
        return new Promise<undefined>(() => undefined);
      },
    };
    const server = await serve({ ...board.api.context, checks });
    const replies = await Promise.all(Array.from({ length: 20 }, () => server.ask('/health/ready')));
    expect(replies.every(({ status }) => status === 503)).toBe(true);
    expect(asked).toBe(1);
    await server.close();
  });

  it('a store that does not answer is 503, anything unexpected a bare 500 with the request’s id', async () => {
    const fail = (error: Error) => ({ ...board.api.context.repositories, list: () => Promise.reject(error) });
    const context = {
      ...board.api.context,
      authenticate: () => board.api.context.authenticate({ 'x-api-key': key }, { remoteAddress: '::1' }),
    };
    const key = 'admin-key-of-this-test-0123456789abcdef';
    const away = await serve({ ...context, repositories: fail(new StoreUnavailableError('mongodb://user:pw@host')) });
    const unavailable = await away.ask('/api/config/repos');
    expect([unavailable.status, unavailable.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(unavailable.body).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await away.close();
    const broken = await serve({ ...context, repositories: fail(new Error('secret')) });
    const failed = await broken.ask('/api/config/repos');
    expect(failed.status).toBe(500);
    expect(failed.body).toEqual({
      error: expect.any(String),
      code: 'INTERNAL_ERROR',
      details: { requestId: failed.headers.get('X-Request-ID') },
    });
    expect(JSON.stringify([unavailable.body, failed.body])).not.toMatch(/secret|pw/);
    await broken.close();
  });
});
