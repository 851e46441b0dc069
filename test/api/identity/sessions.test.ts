import { SignJWT } from 'jose';
import { hashPassword } from '../../../platform/crypto/password-hash';
import { sessionCookie } from '../../../platform/http/auth/credentials';
import { eventually } from '../../../platform/testing/eventually';
import { type ApiUnderTest, type CallOptions, readKey, type Reply, startTestApi } from '../api-under-test';
import { rawRequest } from '../http/raw-request';

const owner = 'local-user';
const password = 'correct horse battery';
const origin = { Origin: 'http://localhost:5173' };

let board: ApiUnderTest;
let recoveryKey: string;
beforeAll(async () => {
  board = await startTestApi();
});
afterAll(() => board.close());

const code = async (): Promise<string> => {
  const value = 'ABCDE-FGHJK-LMNPQ-RSTUV';
  await board.api.context.setupCodes.add(value, 60_000);
  return value;
};

const post = (path: string, body: unknown, options: CallOptions = {}) =>
  board.call('POST', `/api/auth/${path}`, { key: null, body, ...options });
const login = async (body: object = {}) => {
  const reply = await post('login', { password, ...body });
  expect(reply.status).toBe(200);
  return reply;
};

/** The cookie of a reply, as a browser would send it back. */
const cookieOf = ({ headers }: Reply): Record<string, string> => ({
  Cookie: headers.get('Set-Cookie')?.split(';')[0] ?? '',
});
const context = (headers: Record<string, string>) => board.call('GET', '/api/auth/context', { key: null, headers });
const statusOf = async (headers: Record<string, string>) => (await context(headers)).status;
const bearer = ({ body }: Reply) => ({ Authorization: `Bearer ${body.token}` });
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());
const signed = (claims: Record<string, unknown>, kid: string, secret: Uint8Array): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid }).sign(secret);

/** A token of a session, and what another one can be made of. */
interface Forgery {
  token: string;
  kid: string;
  claims: Record<string, unknown>;
  signature: string;
  secret: Uint8Array;
}

const audited = async (action: string) =>
  (await board.call('GET', `/api/audit?action=${action}`)).body.entries as { actor: string; resource: string }[];

describe('before a password is set', () => {
  it('the status reports that, and nothing that needs one works', async () => {
    const { body } = await board.call('GET', '/api/auth/status', { key: null });
    expect(body).toMatchObject({ needsSetup: true, authenticated: false, sessionExpiry: null, role: null });
    expect(await post('login', { password })).toMatchObject({ status: 409, body: { code: 'NOT_SETUP' } });
    const recover = await post('recover', { recoveryKey: 'x', newPassword: password });
    expect(recover).toMatchObject({ status: 409, body: { code: 'NOT_SETUP' } });
  });

  it('it is set with the code of the log only, by one of several, who is signed in and gets a recovery key', async () => {
    const wrong = await post('setup', { code: 'AAAAA-AAAAA-AAAAA-AAAAA', password });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_SETUP_CODE' } });
    const value = await code();
    expect(await post('setup', { code: value })).toMatchObject({ status: 400, body: { code: 'MISSING_PASSWORD' } });
    const short = await post('setup', { code: value, password: 'seven77' });
    expect(short).toMatchObject({ status: 400, body: { code: 'PASSWORD_TOO_SHORT' } });
    const replies = await Promise.all([1, 2, 3].map(() => post('setup', { code: value, password })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const set = replies.find(({ status }) => status === 200)!;
    expect(set.body).toEqual({
      token: expect.stringMatching(/^eyJ/),
      role: 'admin',
      expiresIn: 86_400,
      recoveryKey: expect.stringMatching(/^rbr_/),
    });
    recoveryKey = set.body.recoveryKey;
    expect((await context(cookieOf(set))).body).toMatchObject({ authMethod: 'session', role: 'admin' });
    expect(await post('setup', { code: value, password })).toMatchObject({ body: { code: 'ALREADY_SETUP' } });
    expect((await board.call('GET', '/api/auth/status', { key: null })).body.needsSetup).toBe(false);
  });
});

describe('a session', () => {
  it('is a cookie that scripts do not see and other sites do not send, and names its caller', async () => {
    const reply = await login();
    const header = reply.headers.get('Set-Cookie')!;
    expect(header.split('; ').slice(1)).toEqual(['Max-Age=86400', 'Path=/', 'HttpOnly', 'SameSite=Strict']);
    expect((await context(cookieOf(reply))).body).toEqual({
      role: 'admin',
      userId: owner,
      workspaceId: 'local',
      actorType: 'user',
      authMethod: 'session',
      authenticatedAt: expect.any(String),
      tokenName: owner,
      permissions: expect.arrayContaining(['admin:manage']),
      actor: `user:${owner}`,
      sessionId: expect.stringMatching(/^session_/),
      membershipId: expect.stringMatching(/^member_/),
      capabilities: ['local-agent:run'],
      administersInstallation: true,
    });
    const { body } = await board.call('GET', '/api/auth/status', { key: null, headers: cookieOf(reply) });
    expect(body).toMatchObject({ authenticated: true, role: 'admin', needsSetup: false });
    expect(Date.parse(body.sessionExpiry) - Date.now()).toBeLessThanOrEqual(86_400_000);
  });

  it('lasts for thirty days where that is asked for, and is a bearer token as well', async () => {
    const reply = await login({ rememberMe: true });
    expect(reply.body.expiresIn).toBe(30 * 86_400);
    expect(await statusOf(bearer(reply))).toBe(200);
    expect(await statusOf({ 'X-API-Key': reply.body.token })).toBe(401);
  });

  it('is a new one at each sign-in, whatever cookie comes with it', async () => {
    const before = await login();
    const after = await post('login', { password }, { headers: { ...cookieOf(before), ...origin } });
    expect(after.body.token).not.toBe(before.body.token);
    expect(await statusOf(cookieOf(before))).toBe(401);
    expect(await statusOf(cookieOf(after))).toBe(200);
    const fixed = await post('login', { password }, { headers: { Cookie: `${sessionCookie}=${'a'.repeat(40)}` } });
    expect(fixed.body.token).toMatch(/^eyJ/);
  });

  it('ends with its logout, for good', async () => {
    const reply = await login();
    const out = await post('logout', undefined, { headers: { ...cookieOf(reply), ...origin } });
    expect(out.status).toBe(204);
    expect(out.headers.get('Set-Cookie')).toMatch(/^board_session=; Max-Age=0;/);
    expect(await statusOf(cookieOf(reply))).toBe(401);
    expect(await statusOf(bearer(reply))).toBe(401);
    expect((await post('logout', undefined)).status).toBe(204);
  });

  it('ends when it expires', async () => {
    const reply = await login();
    const { sessionId } = (await context(cookieOf(reply))).body;
    const sessions = await board.api.context.database.collection<{ _id: string; expiresAt: string }>({
      name: 'sessions',
    });
    await sessions.findOneAndUpdate({ _id: sessionId }, { $set: { expiresAt: '2026-01-01T00:00:00.000Z' } });
    expect(await statusOf(cookieOf(reply))).toBe(401);
  });

  it.each<[string, (fields: Forgery) => Promise<string>]>([
    ['unsigned', async ({ claims }) => `${encoded({ alg: 'none', kid: 'x' })}.${encoded(claims)}.`],
    [
      'declared to be unsigned',
      async ({ kid, claims, signature }) => `${encoded({ alg: 'none', kid })}.${encoded(claims)}.${signature}`,
    ],
    ['signed with another secret', ({ kid, claims }) => signed(claims, kid, Buffer.alloc(32))],
    ['signed with the secret of another name', ({ claims, secret }) => signed(claims, 'other', secret)],
    ['for another service', ({ kid, claims, secret }) => signed({ ...claims, aud: 'other' }, kid, secret)],
    ['without an end', ({ kid, claims: { exp: _exp, ...claims }, secret }) => signed(claims, kid, secret)],
    ['late', ({ kid, claims, secret }) => signed({ ...claims, exp: 1_700_000_000 }, kid, secret)],
    ['another user’s', ({ kid, claims, secret }) => signed({ ...claims, sub: 'eve' }, kid, secret)],
    [
      'of no record',
      ({ kid, claims, secret }) => signed({ ...claims, sid: 'session_000000000000000000000000' }, kid, secret),
    ],
    [
      'changed',
      async ({ token, claims }) => token.replace(/\.[^.]*\./, `.${encoded({ ...claims, exp: 4_000_000_000 })}.`),
    ],
  ])('is no session when it is %s', async (_case, forge) => {
    const { token } = (await login()).body;
    const [header = '', payload = '', signature = ''] = token.split('.');
    const { kid, secret } = (await board.api.context.sessionSecrets.read()).current;
    expect(decoded(header)).toMatchObject({ alg: 'HS256', kid });
    const forgery = { token, kid, claims: decoded(payload), signature, secret: Buffer.from(secret, 'base64url') };
    const forged = await forge(forgery);
    expect(await statusOf({ Authorization: `Bearer ${forged}` })).toBe(401);
    expect(await statusOf({ Cookie: `${sessionCookie}=${forged}` })).toBe(401);
    expect(await statusOf({ Authorization: `Bearer ${token}` })).toBe(200);
  });

  it('is listed with where it is used, and ended by its user', async () => {
    const [one, other] = [await login(), await login()];
    const { body } = await board.call('GET', '/api/auth/sessions?limit=2', { key: null, headers: bearer(one) });
    expect(body).toMatchObject([
      { current: false, method: 'password', address: '127.0.0.1' },
      { current: true, lastUsedAt: expect.any(String) },
    ]);
    const path = `/api/auth/sessions/${body[0].id}`;
    expect((await board.call('DELETE', path, { key: null, headers: bearer(one) })).status).toBe(204);
    expect((await board.call('DELETE', path, { key: null, headers: bearer(one) })).status).toBe(404);
    expect(await statusOf(bearer(other))).toBe(401);
    const ofProgram = await board.call('GET', '/api/auth/sessions', { key: readKey });
    expect([ofProgram.status, ofProgram.body]).toEqual([200, []]);
  });
});

describe('the workspace of a session', () => {
  it('is switched by its user, who acts there from then on, and only where it is a member', async () => {
    const session = bearer(await login());
    const create = await board.call('POST', '/api/identity/workspaces', { body: { name: 'Other' } });
    const workspaceId: string = create.body.id;
    await board.createTask({ title: 'of local' });
    const switchTo = (id: string) =>
      board.call('POST', '/api/identity/workspaces/switch', {
        key: null,
        headers: session,
        body: { workspaceId: id },
      });
    expect((await switchTo('ws-000000000000')).status).toBe(404);
    const switched = await switchTo(workspaceId);
    expect([switched.status, switched.body]).toMatchObject([200, { workspaceId, role: 'admin' }]);
    expect((await context(session)).body).toMatchObject({ workspaceId, membershipId: switched.body.membershipId });
    expect((await board.call('GET', '/api/tasks', { key: null, headers: session })).body.tasks).toEqual([]);
    // What is one for all workspaces is not administered from there.
    const rotated = await board.call('POST', '/api/auth/rotate-secret', { key: null, headers: session, body: {} });
    expect(rotated.status).toBe(403);
    expect((await switchTo('local')).body).toMatchObject({ workspaceId: 'local' });
  });

  it('gives the rights of the membership as it is now, and none without it or for a disabled user', async () => {
    const { oidc, users, workspaces } = board.api.context;
    const { userId } = await oidc.grant('https://id.example', 'ada', 'agent');
    const user = await users.create(userId, { displayName: 'Ada' });
    const joining = { id: 'member_00000000ada0', userId: user.id, joinedAt: new Date().toISOString() };
    await workspaces.join('local', { ...joining, role: 'agent', status: 'active' });
    const signIn = { userId: user.id, workspaceId: 'local', role: 'agent', method: 'oidc' } as const;
    const { sessions, sessionTokens } = board.api.context;
    const expiresAt = new Date(Date.now() + 60_000);
    const at = new Date().toISOString();
    const times = { createdAt: at, lastUsedAt: at, expiresAt: expiresAt.toISOString() };
    await sessions.add({ _id: 'session_ada', ...signIn, ...times, remembered: false });
    const token = await sessionTokens.sign({ sessionId: 'session_ada', userId: user.id }, expiresAt);
    const session = { Authorization: `Bearer ${token}` };
    expect((await context(session)).body).toMatchObject({ role: 'agent', userId: user.id, membershipId: joining.id });
    await workspaces.changeMember('local', joining.id, { role: 'read-only' });
    expect((await context(session)).body).toMatchObject({ role: 'read-only' });
    await users.setStatus(user.id, 'disabled');
    expect(await statusOf(session)).toBe(401);
    await users.setStatus(user.id, 'active');
    expect(await statusOf(session)).toBe(200);
    await workspaces.removeMember('local', joining.id);
    expect(await statusOf(session)).toBe(401);
  });
});

describe('the cookie of a session', () => {
  it.each([
    ['a proxy', { 'X-Forwarded-For': '127.0.0.1' }],
    ['another Host', { Host: 'board.example' }],
    ['a Host of another port', { Host: 'localhost:1' }],
    ['a foreign page', { Origin: 'https://evil.example' }],
    ['a foreign Referer', { Referer: 'https://evil.example/' }],
  ])('is worth nothing from elsewhere: %s', async (_case, headers: Record<string, string>) => {
    const cookie = cookieOf(await login());
    const refused = await rawRequest(board.url, { path: '/api/auth/context', headers: { ...cookie, ...headers } });
    expect(refused.status).toBe(403);
  });

  it.each([
    ['nothing of a browser', {}],
    ['another site’s page', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a page of another port', { 'Sec-Fetch-Site': 'same-site' }],
    ['a link', { 'Sec-Fetch-Site': 'none' }],
  ])('changes nothing with %s', async (_case, headers: Record<string, string>) => {
    const cookie = cookieOf(await login());
    const body = { title: 'x' };
    const refused = await board.call('POST', '/api/tasks', { key: null, body, headers: { ...cookie, ...headers } });
    expect(refused).toMatchObject({
      status: 403,
      body: { code: expect.stringMatching(/CSRF_REJECTED|CORS_REJECTED/) },
    });
  });

  it('reads nothing for a page of another port that does not name itself', async () => {
    const cookie = cookieOf(await login());
    const read = async (headers: Record<string, string>) => {
      const { status, body } = await board.call('GET', '/api/tasks', { key: null, headers: { ...cookie, ...headers } });
      return [status, body.code];
    };
    const sibling = { 'Sec-Fetch-Site': 'same-site' };
    expect(await read(sibling)).toEqual([403, 'CSRF_REJECTED']);
    expect(await read({ ...sibling, ...origin })).toEqual([200, undefined]);
    expect(await read({ 'Sec-Fetch-Site': 'none' })).toEqual([200, undefined]);
  });

  it.each([
    ['the origin of a page of this machine', origin],
    ['a request of its own page', { 'Sec-Fetch-Site': 'same-origin' }],
  ])('changes things with %s', async (_case, headers: Record<string, string>) => {
    const cookie = cookieOf(await login());
    const body = { title: 'x' };
    const done = await board.call('POST', '/api/tasks', { key: null, body, headers: { ...cookie, ...headers } });
    expect([done.status, done.body.createdBy]).toEqual([201, `user:${owner}`]);
  });
});

describe('a password', () => {
  const next = 'another good password';

  it('is for this machine: it cannot even be tried from elsewhere', async () => {
    const headers = { 'Content-Type': 'application/json', Via: '1.1 proxy' };
    for (const [path, body] of [
      ['login', { password }],
      ['setup', { code: await code(), password }],
      ['recover', { recoveryKey, newPassword: password }],
    ] as const) {
      const options = { method: 'POST', path: `/api/auth/${path}`, headers, body: JSON.stringify(body) };
      const refused = await rawRequest(board.url, options);
      expect([path, refused.status]).toEqual([path, 403]);
      expect(JSON.parse(refused.text).code).toBe('PASSWORD_SESSION_LOCAL_ONLY');
    }
  });

  it('is changed with the present one, which ends every session but the caller’s new one', async () => {
    const [one, other] = [await login(), await login()];
    const change = (body: object) => post('change-password', body, { headers: bearer(one) });
    const wrong = await change({ currentPassword: 'wrong wrong', newPassword: next });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_CURRENT_PASSWORD' } });
    const short = await change({ currentPassword: password, newPassword: 'short' });
    expect(short).toMatchObject({ status: 400, body: { code: 'PASSWORD_TOO_SHORT' } });
    const changed = await change({ currentPassword: password, newPassword: next });
    expect(changed.status).toBe(200);
    expect(await Promise.all([one, other, changed].map((reply) => statusOf(bearer(reply))))).toEqual([401, 401, 200]);
    expect(await post('login', { password })).toMatchObject({ status: 401, body: { code: 'INVALID_PASSWORD' } });
    await post('change-password', { currentPassword: next, newPassword: password }, { headers: bearer(changed) });
    await login();
  });

  it('whose change was interrupted before sessions were ended leaves none of them valid', async () => {
    const reply = await login();
    const { passwords } = board.api.context;
    const record = (await passwords.get(owner))!;
    await passwords.replace(record, { passwordHash: await hashPassword(password) });
    expect(await statusOf(cookieOf(reply))).toBe(401);
  });

  it('is recovered once with each recovery key, which ends every session', async () => {
    const reply = await login();
    const wrong = await post('recover', { recoveryKey: `${recoveryKey}x`, newPassword: next });
    expect(wrong).toMatchObject({ status: 401, body: { code: 'INVALID_RECOVERY_KEY' } });
    const recovered = await post('recover', { recoveryKey, newPassword: password });
    expect(recovered.status).toBe(200);
    expect(await statusOf(bearer(reply))).toBe(401);
    expect((await post('recover', { recoveryKey, newPassword: next })).status).toBe(401);
    recoveryKey = recovered.body.recoveryKey;
    await login();
  });

  it('is not guessed: of many wrong ones at once five are verified, and then none for a while', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 12 }, (_each, n) => post('login', { password: `wrong password ${n}` })),
    );
    const statuses = guesses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(5).fill(401), ...Array<number>(7).fill(429)]);
    const locked = await post('login', { password });
    expect(locked).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(locked.headers.get('Retry-After'))).toBeGreaterThan(30);
    await eventually(async () => expect(await audited('auth.lock')).not.toEqual([]));
    expect((await audited('auth.lock'))[0]).toMatchObject({ actor: 'user:anonymous', resource: '127.0.0.1' });
    // The owner is not locked out of recovering.
    const recovered = await post('recover', { recoveryKey, newPassword: password });
    expect(recovered.status).toBe(200);
    recoveryKey = recovered.body.recoveryKey;
    await login();
  });
});

describe('the secret of sessions', () => {
  const rotate = (body: object) => board.call('POST', '/api/auth/rotate-secret', { body });

  it('is replaced, and the former one is valid for as long as is wanted', async () => {
    const before = await login();
    const rotated = await rotate({ gracePeriodMs: 60_000 });
    expect(rotated.body).toMatchObject({ rotatedAt: expect.any(String), former: [{ validUntil: expect.any(String) }] });
    expect(await statusOf(bearer(before))).toBe(200);
    const after = await login();
    expect((await board.call('GET', '/api/auth/rotation-status')).body).toEqual(rotated.body);
    await rotate({ gracePeriodMs: 0 });
    expect(await statusOf(bearer(after))).toBe(401);
    expect(await statusOf(bearer(before))).toBe(200);
  });

  it.each([-1, 1.5, 31 * 86_400_000])('is not replaced with a grace of %d', async (gracePeriodMs) =>
    expect(await rotate({ gracePeriodMs })).toMatchObject({ status: 400, body: { code: 'INVALID_GRACE_PERIOD' } }),
  );
});
