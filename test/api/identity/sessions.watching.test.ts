import { eventually } from '../../../platform/testing/eventually';
import { TestWatcher } from '../../support/watcher';
import { adminKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';

const password = 'correct horse battery';
const setupCode = 'ABCDE-FGHJK-LMNPQ-RSTUV';

let board: ApiUnderTest;
const watchers: TestWatcher[] = [];
beforeAll(async () => {
  board = await startTestApi();
  await board.api.context.setupCodes.add(setupCode, 60_000);
  await post('setup', { code: setupCode, password });
});
afterEach(() => watchers.splice(0).forEach((watcher) => watcher.close()));
afterAll(() => board.close());

const post = (path: string, body?: object, headers: Record<string, string> = {}) =>
  board.call('POST', `/api/auth/${path}`, { key: null, body, headers });

async function watch(headers: Record<string, string>, query = ''): Promise<TestWatcher> {
  const watcher = await TestWatcher.open(board.url, { headers }, query);
  watchers.push(watcher);
  return watcher;
}

const codeOf = (watcher: TestWatcher) =>
  eventually(() => {
    if (!watcher.closed && watcher.of('connected').length === 0) {
      throw new Error('neither connected nor closed');
    }
    return watcher.closed?.code;
  });
const closedWith = (watcher: TestWatcher) =>
  eventually(() => {
    if (!watcher.closed) {
      throw new Error('still open');
    }
    return watcher.closed.code;
  });

/** A session as its cookie and as a bearer token. */
async function signIn() {
  const { body } = await post('login', { password });
  return { cookie: { Cookie: `board_session=${body.token}` }, bearer: { Authorization: `Bearer ${body.token}` } };
}
const ticketFor = async (headers: Record<string, string>): Promise<string> => {
  const { status, body } = await post('ws-ticket', undefined, headers);
  expect([status, body.expiresIn]).toEqual([200, 30]);
  return `?ticket=${body.ticket}`;
};

describe('a WebSocket', () => {
  it('is opened by the cookie of a session, a bearer token, a key, or a key in the query', async () => {
    const { cookie, bearer } = await signIn();
    for (const [headers, query] of [
      [cookie, ''],
      [bearer, ''],
      [{ 'X-API-Key': readKey }, ''],
      [{}, `?api_key=${readKey}`],
    ] as const) {
      expect(await codeOf(await watch(headers, query))).toBeUndefined();
    }
  });

  it('is opened once by a ticket, whatever its caller has: a session, or a key that only reads', async () => {
    const { cookie } = await signIn();
    const callers: Record<string, string>[] = [
      { ...cookie, Origin: 'http://localhost:5173' },
      { 'X-API-Key': readKey },
    ];
    for (const headers of callers) {
      const ticket = await ticketFor(headers);
      expect(await codeOf(await watch({}, ticket))).toBeUndefined();
      expect(await codeOf(await watch({}, ticket))).toBe(4001);
    }
  });

  it.each([
    ['a session in the query', async () => `?api_key=${(await signIn()).bearer.Authorization.slice(7)}`],
    ['a ticket as a key', async () => (await ticketFor({ 'X-API-Key': adminKey })).replace('ticket', 'api_key')],
    ['a wrong ticket', async () => `?ticket=rbw_${'0'.repeat(16)}_${'A'.repeat(43)}`],
    ['a ticket that is none, beside a key', async () => `?ticket=x&api_key=${adminKey}`],
  ])('is not opened by %s', async (_case, query) => expect(await codeOf(await watch({}, await query()))).toBe(4001));

  it('is not opened by a session that comes from elsewhere, in a cookie or as a ticket', async () => {
    const { cookie, bearer } = await signIn();
    const from = { 'X-Forwarded-For': '203.0.113.9' };
    await expect(watch({ ...cookie, ...from })).rejects.toThrow('403');
    await expect(watch(from, await ticketFor(bearer))).rejects.toThrow('403');
    await expect(watch({ ...cookie, Origin: 'https://evil.example' })).rejects.toThrow('403');
  });

  it('has no ticket for a caller without a credential', async () => {
    expect(await post('ws-ticket')).toMatchObject({ status: 401, body: { code: 'AUTH_REQUIRED' } });
  });

  it('of a session that ends while events flow is closed with 4001 and receives nothing more; others go on', async () => {
    const [ended, kept] = [await signIn(), await signIn()];
    const gone = [await watch(ended.cookie), await watch({}, await ticketFor(ended.bearer))];
    const other = await watch(kept.cookie);
    await board.createTask({ title: 'before' });
    for (const watcher of [...gone, other]) {
      await watcher.receives(({ type, task }) => type === 'task:updated' && task.title === 'before');
    }
    expect((await post('logout', undefined, ended.bearer)).status).toBe(204);
    while (gone.some(({ closed }) => !closed)) {
      await board.createTask({ title: 'flows' });
    }
    expect(gone.map(({ closed }) => closed?.code)).toEqual([4001, 4001]);
    const received = gone.map((watcher) => watcher.received.length);
    await board.createTask({ title: 'after' });
    await other.receives(({ type, task }) => type === 'task:updated' && task.title === 'after');
    expect(gone.map((watcher) => watcher.received.length)).toEqual(received);
    expect(other.closed).toBeUndefined();
  });

  it('of every session is closed when the password changes', async () => {
    const { cookie, bearer } = await signIn();
    const watcher = await watch(cookie);
    const changed = await post('change-password', { currentPassword: password, newPassword: password }, bearer);
    expect(changed.status).toBe(200);
    expect(await closedWith(watcher)).toBe(4001);
  });
});
