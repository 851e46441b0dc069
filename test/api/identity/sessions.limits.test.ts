import { offerSetup } from '../../../api/identity/sessions/setup-code';
import { createLog } from '../../../platform/log/log';
import { type ApiUnderTest, type Reply, startTestApi } from '../api-under-test';

const password = 'correct horse battery';

let board: ApiUnderTest;
afterEach(() => board.close());

const post = (path: string, body: object): Promise<Reply> =>
  board.call('POST', `/api/auth/${path}`, { key: null, body });

/** The codes that a start of the service writes to its log, whose lines are JSON. */
async function codesOfStart(workspaceId = board.api.context.workspaceId): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog({ name: 'test', level: 'warn' }, { write: (line) => lines.push(line) });
  await offerSetup({ ...board.api.context, log, workspaceId });
  return lines.map((line) => (JSON.parse(line) as { code: string }).code);
}

describe('setting the first password', () => {
  it('takes the code of the log of any start since, and none once it is set', async () => {
    board = await startTestApi();
    const [[first = ''], [second = '']] = [await codesOfStart(), await codesOfStart()];
    expect(first).toMatch(/^(?:[A-Z2-9]{5}-){3}[A-Z2-9]{5}$/);
    expect(second).not.toBe(first);
    expect((await post('setup', { code: first, password })).status).toBe(200);
    expect(await board.api.context.setupCodes.has(second)).toBe(false);
    expect(await codesOfStart()).toEqual([]);
  });

  it('is offered once for the installation, and by no other workspace', async () => {
    board = await startTestApi();
    expect(await codesOfStart('ws-0123456789ab')).toEqual([]);
    expect(await codesOfStart()).toHaveLength(1);
  });

  it('is not offered where no caller needs a key', async () => {
    board = await startTestApi({ BOARD_AUTH_ENABLED: 'false' });
    expect(await codesOfStart()).toEqual([]);
    expect((await board.call('GET', '/api/auth/status', { key: null })).body.needsSetup).toBe(false);
  });
});

describe('signing in', () => {
  it('is limited by address, whichever of its operations is called, and the status is not', async () => {
    board = await startTestApi({ RATE_LIMIT_AUTH: '3' });
    const replies = [await post('login', { password }), await post('setup', { code: 'x', password })];
    expect(replies.map(({ status }) => status)).toEqual([409, 401]);
    const last = await post('recover', { recoveryKey: 'x', newPassword: password });
    expect([last.status, last.headers.get('X-RateLimit-Remaining')]).toEqual([409, '0']);
    const refused = await post('login', { password });
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', details: { limit: 3 } } });
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    expect((await board.call('GET', '/api/auth/status', { key: null })).status).toBe(200);
  });

  it('sets a cookie for TLS and this machine only, in production', async () => {
    board = await startTestApi({ NODE_ENV: 'production' });
    const [code = ''] = await codesOfStart();
    const { status, headers } = await post('setup', { code, password });
    expect([status, headers.get('Set-Cookie')]).toEqual([200, expect.stringMatching(/; SameSite=Strict; Secure$/)]);
  });
});
