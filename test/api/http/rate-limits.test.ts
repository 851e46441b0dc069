import { eventually } from '../../../platform/testing/eventually';
import { type ApiUnderTest, startTestApi } from '../api-under-test';
import { rawRequest } from './raw-request';

let board: ApiUnderTest;
describe('rate limits', () => {
  afterEach(() => board.close());

  const statuses = async (count: number, method: string, path: string): Promise<number[]> => {
    const seen: number[] = [];
    for (let call = 0; call < count; call += 1) {
      seen.push((await board.call(method, path, method === 'GET' ? {} : { body: { title: 'a' } })).status);
    }
    return seen;
  };

  it('refuses what is above the limit of reads, reports when to come back, and counts writes apart', async () => {
    board = await startTestApi({ RATE_LIMIT_READ: '3', RATE_LIMIT_WRITE: '2' });
    const first = await board.call('GET', '/api/tasks');
    expect(first.headers.get('X-RateLimit-Limit')).toBe('3');
    expect(first.headers.get('X-RateLimit-Remaining')).toBe('2');
    const resetInSeconds = Number(first.headers.get('X-RateLimit-Reset')) - Date.now() / 1000;
    expect(resetInSeconds).toBeGreaterThan(50);
    expect(resetInSeconds).toBeLessThan(62);
    expect(await statuses(3, 'GET', '/api/tasks')).toEqual([200, 200, 429]);
    const refused = await board.call('GET', '/api/nowhere');
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: 'RATE_LIMITED', details: { limit: 3 } });
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await statuses(3, 'POST', '/api/tasks')).toEqual([201, 201, 429]);
  });

  it('counts refused callers too, so that keys cannot be guessed at leisure', async () => {
    board = await startTestApi({ RATE_LIMIT_READ: '2' });
    const guess = () => board.call('GET', '/api/tasks', { key: 'a guess' });
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([401, 401, 429]);
  });

  it('exempts this machine from the global tier, but not in production', async () => {
    board = await startTestApi({ RATE_LIMIT_GLOBAL: '1' });
    expect(await statuses(3, 'GET', '/api/tasks')).toEqual([200, 200, 200]);
    await board.close();
    board = await startTestApi({ RATE_LIMIT_GLOBAL: '1', NODE_ENV: 'production' });
    expect(await statuses(2, 'GET', '/api/tasks')).toEqual([200, 429]);
    expect(await statuses(3, 'GET', '/health/live')).toEqual([200, 200, 200]);
  });

  it('counts a path in whatever form it is written', async () => {
    board = await startTestApi({ RATE_LIMIT_READ: '4' });
    const forms = ['/API/tasks', '/%61pi/tasks', '/api/v1/tasks/', '/nowhere'];
    for (const path of forms) {
      expect((await rawRequest(board.url, { path })).status).not.toBe(429);
    }
    for (const path of [...forms, '/Api/Tasks', '/api/tasks']) {
      expect((await rawRequest(board.url, { path })).status).toBe(429);
    }
    expect((await rawRequest(board.url, { path: '//api/tasks' })).status).toBe(400);
  });

  describe('behind a proxy', () => {
    const through = async (address: string) =>
      (await rawRequest(board.url, { path: '/api/tasks', headers: { 'X-Forwarded-For': address } })).status;

    it('counts callers by the address that a trusted one names', async () => {
      board = await startTestApi({ RATE_LIMIT_READ: '1', BOARD_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' });
      expect(await through('198.51.100.9')).toBe(401);
      expect(await through('198.51.100.10, 10.0.0.7')).toBe(401);
      expect(await through('1.1.1.1, 198.51.100.9')).toBe(429);
    });

    it('ignores what others claim', async () => {
      board = await startTestApi({ RATE_LIMIT_READ: '1', BOARD_TRUSTED_PROXIES: '10.0.0.0/8' });
      expect(await through('198.51.100.9')).toBe(401);
      expect(await through('198.51.100.10')).toBe(429);
    });

    it('is audited with the address of the caller who fails to authenticate', async () => {
      board = await startTestApi({ RATE_LIMIT_AUTH_FAILURES: '5', BOARD_TRUSTED_PROXIES: '127.0.0.1' });
      await through('198.51.100.9');
      await eventually(async () => {
        const { body } = await board.call('GET', '/api/audit?action=auth.failed');
        expect(body.entries).toMatchObject([{ resource: '198.51.100.9' }]);
      });
    });

    it('is refused at the start when its address is none', async () => {
      await expect(startTestApi({ BOARD_TRUSTED_PROXIES: 'proxy.example' })).rejects.toThrow(/BOARD_TRUSTED_PROXIES/);
      board = await startTestApi();
    });
  });

  it('does not exempt what a proxy on this machine forwards', async () => {
    board = await startTestApi({ RATE_LIMIT_GLOBAL: '1' });
    const forwarded = () => rawRequest(board.url, { path: '/api/tasks', headers: { 'X-Real-IP': '203.0.113.9' } });
    expect([(await forwarded()).status, (await forwarded()).status]).toEqual([401, 429]);
  });
});
