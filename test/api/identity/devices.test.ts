import { randomBytes } from 'node:crypto';
import { eventually } from '../../../platform/testing/eventually';
import { TestWatcher } from '../../support/watcher';
import { type ApiUnderTest, startTestApi } from '../api-under-test';
import { aDevice, signedPairing as signed } from './pairing';
import { aPerson, aWorkspace, done, type Person } from './people';

let board: ApiUnderTest;
let admin: Person;
let addresses = 0;
describe('devices API', () => {
  beforeAll(async () => {
    board = await startTestApi({ BOARD_TRUSTED_PROXIES: '127.0.0.1' });
    admin = await aPerson(board, 'admin');
  });
  afterAll(() => board.close());

  const offer = {
    deviceName: 'Phone of Ada',
    clientMode: 'mobile',
    capabilities: ['push'],
    scopes: ['workspace:read', 'task:read', 'task:write'],
    role: 'agent',
  };
  const path = (workspaceId = 'local') => `/identity/workspaces/${workspaceId}`;
  const aCode = async (fields: object = {}, { key, workspaceId }: Person = admin): Promise<string> =>
    (await done(board, 'POST', `${path(workspaceId)}/device-pairing-codes`, { key, body: { ...offer, ...fields } }))
      .code;

  const redeem = (body: object, address = `198.51.100.${(addresses += 1)}`) =>
    board.call('POST', '/api/auth/device-pairing/exchange', {
      key: null,
      body,
      headers: { 'X-Forwarded-For': address },
    });
  const contextOf = (token: string) =>
    board.call('GET', '/api/auth/context', { key: null, headers: { Authorization: `Bearer ${token}` } });
  const pair = async (fields: object = {}, by: Person = admin) => {
    const { status, body } = await redeem(signed(await aCode(fields, by), { workspace: by.workspaceId }));
    expect([status, body.code]).toEqual([201, undefined]);
    return body as { id: string; token: string };
  };

  it('are paired with a code for a session, whose token and code are shown once', async () => {
    const made = await done(board, 'POST', `${path()}/device-pairing-codes`, { key: admin.key, body: offer });
    expect(made).toMatchObject({ ...offer, workspaceId: 'local', pairingLink: expect.stringContaining(made.code) });
    const { status, body } = await redeem(signed(made.code));
    expect(status).toBe(201);
    const { token, ...session } = body;
    expect(session).toMatchObject({
      ...{ deviceName: 'Phone of Ada', deviceId: 'phone-1', clientId: 'app', clientMode: 'mobile', role: 'agent' },
      ...{ capabilities: ['push'], scopes: ['workspace:read', 'task:read'], state: 'active', userId: admin.userId },
    });
    expect(Date.parse(session.expiresAt) - Date.parse(session.createdAt)).toBe(30 * 86_400_000);
    expect((await contextOf(token)).body).toMatchObject({
      ...{ actor: 'device:Phone of Ada', actorType: 'device', authMethod: 'device-session', role: 'agent' },
      ...{ deviceSessionId: session.id, deviceId: 'phone-1', clientId: 'app', clientMode: 'mobile' },
      ...{ capabilities: ['push'], permissions: ['workspace:read', 'task:read'], userId: admin.userId },
    });
    expect((await board.call('GET', '/api/tasks', { key: token })).status).toBe(401);
    const listed = await board.call('GET', `/api${path()}/device-sessions`, { key: admin.key });
    expect(listed.body[0]).toEqual({ ...session, lastUsedAt: expect.any(String) });
    const audit = await board.call('GET', '/api/audit?action=device.pair');
    expect(audit.body.entries[0]).toMatchObject({
      action: 'device.pair',
      actor: 'device:Phone of Ada',
      resource: session.id,
    });
    for (const secret of [made.code, token]) {
      expect(JSON.stringify([listed.body, audit.body])).not.toContain(secret);
    }
  });

  it('are known by their sessions in the audit, where several have one name', async () => {
    const scopes = ['task:read', 'task:write'];
    const sessions: string[] = [];
    for (const _device of [1, 2]) {
      const paired = await redeem(signed(await aCode({ deviceName: 'Shared name' }), { scopes }));
      const { id, token } = paired.body as { id: string; token: string };
      const headers = { Authorization: `Bearer ${token}` };
      const created = await board.call('POST', '/api/tasks', { key: null, headers, body: { title: 'Made' } });
      expect(created.status).toBe(201);
      sessions.push(id);
    }
    const { body } = await board.call('GET', '/api/audit?action=task.create&actor=device:Shared%20name');
    const known = body.entries.map(({ details }: { details: { deviceSessionId: string } }) => details.deviceSessionId);
    expect(known.sort()).toEqual(sessions.sort());
  });

  it('use a code once, however many try at the same moment', async () => {
    const code = await aCode();
    const replies = await Promise.all(Array.from({ length: 5 }, () => redeem(signed(code))));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('PAIRING_CODE_USED');
  });

  it('get the same session when a response was lost, until the session is used; then a replay is refused', async () => {
    const request = signed(await aCode());
    const [first, again] = [await redeem(request), await redeem(request)];
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, token: first.body.token } });
    await contextOf(first.body.token);
    expect(await redeem(request)).toMatchObject({ status: 409, body: { code: 'PAIRING_CODE_USED' } });
    const replayed = signed(await aCode(), { nonce: request.nonce });
    expect(await redeem(replayed)).toMatchObject({ status: 409, body: { code: 'PAIRING_NONCE_USED' } });
  });

  it('get the session that a process did not come to store after it had used the code', async () => {
    const request = signed(await aCode());
    const first = await redeem(request);
    const sessions = await board.api.context.database.collection<{ _id: string }>({ name: 'device-sessions' });
    await sessions.deleteMany({ _id: first.body.id });
    expect((await contextOf(first.body.token)).status).toBe(401);
    const again = await redeem(request);
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id, token: first.body.token } });
    expect((await contextOf(again.body.token)).status).toBe(200);
    const audit = await board.call('GET', `/api/audit?resource=${first.body.id}`);
    expect(audit.body.entries).toHaveLength(1);
  });

  it.each<[string, (code: string) => object, number, object]>([
    [
      'another signature',
      (code) => ({ ...signed(code), deviceId: 'phone-2' }),
      401,
      { code: 'PAIRING_SIGNATURE_INVALID' },
    ],
    [
      'the signature of another key',
      (code) => ({ ...signed(code), publicKey: aDevice().publicKey }),
      401,
      { code: 'PAIRING_SIGNATURE_INVALID' },
    ],
    [
      'a signature of long ago',
      (code) => signed(code, { signedAt: new Date(Date.now() - 180_000).toISOString() }),
      400,
      { details: { issues: [{ path: 'signedAt' }] } },
    ],
    [
      'a signature of the future',
      (code) => signed(code, { signedAt: new Date(Date.now() + 180_000).toISOString() }),
      400,
      { details: { issues: [{ path: 'signedAt' }] } },
    ],
    [
      'more than the code is for',
      (code) => signed(code, { role: 'admin', clientMode: 'cli', workspace: 'ws-other' }),
      400,
      { details: { issues: [{ path: 'workspace' }, { path: 'clientMode' }, { path: 'role' }] } },
    ],
    [
      'none of the scopes',
      (code) => signed(code, { scopes: ['settings:read'] }),
      400,
      { details: { issues: [{ path: 'scopes' }] } },
    ],
  ])('are refused with %s, and the code remains', async (_case, requestFor, status, body) => {
    const code = await aCode();
    expect(await redeem(requestFor(code))).toMatchObject({ status, body });
    expect((await redeem(signed(code))).status).toBe(201);
  });

  it('are limited when they guess, by address and by code, and audited', async () => {
    const code = await aCode();
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      const guess = `rbp_${randomBytes(12).toString('hex')}_${'A'.repeat(43)}`;
      statuses.push((await redeem(signed(guess), '203.0.113.1')).status);
    }
    expect([statuses.slice(0, 10), statuses.at(-1)]).toEqual([Array<number>(10).fill(401), 429]);
    expect((await redeem(signed(code), '203.0.113.1')).status).toBe(429);
    const wrong = `${code.slice(0, -43)}${'A'.repeat(43)}`;
    for (let n = 0; n < 5; n += 1) {
      expect((await redeem(signed(wrong))).status).toBe(401);
    }
    expect((await redeem(signed(code))).status).toBe(429);
    const audit = await board.call('GET', '/api/audit?action=device-pairing.refused&resource=203.0.113.1');
    expect(audit.body.entries).toHaveLength(10);
    expect(audit.body.entries[0].details).toMatchObject({ reason: 'PAIRING_CODE_INVALID' });
  });

  it('are refused a code whose administrator is none any more', async () => {
    const maker = await aPerson(board, 'admin');
    const code = await aCode({}, maker);
    await done(board, 'PATCH', `${path()}/members/${maker.membershipId}`, { body: { role: 'agent' } });
    expect(await redeem(signed(code))).toMatchObject({ status: 401, body: { code: 'PAIRING_CODE_INVALID' } });
  });

  it('are refused once they are revoked, and may do less when their member may', async () => {
    const owner = await aPerson(board, 'admin');
    const { id, token } = await pair({ role: 'agent' }, owner);
    const session = `/api${path()}/device-sessions/${id}`;
    const test = async () => (await board.call('POST', `${session}/test`, { key: admin.key })).body;
    expect(await test()).toMatchObject({ accepted: true, role: 'agent', session: { testedAt: expect.any(String) } });
    const setRole = (role: string) =>
      done(board, 'PATCH', `${path()}/members/${owner.membershipId}`, { body: { role } });
    await setRole('read-only');
    const degraded = (await contextOf(token)).body;
    expect(degraded).toMatchObject({ role: 'read-only', degradedReason: expect.stringContaining('Approved as agent') });
    expect(await test()).toMatchObject({ accepted: true, degradedReason: degraded.degradedReason });
    await done(board, 'PATCH', `${path()}/members/${owner.membershipId}`, { body: { status: 'suspended' } });
    expect(await test()).toMatchObject({ accepted: false, permissions: [], session: { state: 'suspended' } });
    expect((await contextOf(token)).status).toBe(401);
    await done(board, 'PATCH', `${path()}/members/${owner.membershipId}`, { body: { status: 'active' } });
    expect((await contextOf(token)).status).toBe(200);
    expect((await board.call('POST', `${session}/revoke`, { key: admin.key })).body.state).toBe('revoked');
    expect((await contextOf(token)).status).toBe(401);
    expect(await test()).toMatchObject({ accepted: false, session: { state: 'revoked' } });
  });

  it('have idempotency keys of their own, also under one name', async () => {
    const writer = async () => (await redeem(signed(await aCode(), { scopes: offer.scopes }))).body;
    const [one, other] = [await writer(), await writer()];
    const create = (token: string) =>
      board.call('POST', '/api/tasks', {
        key: null,
        body: { title: 'Once for each device' },
        headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': 'the-key-of-both' },
      });
    const [first, again, second] = [await create(one.token), await create(one.token), await create(other.token)];
    expect([first.status, again.body.id, second.status]).toEqual([201, first.body.id, 201]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('receive nothing more over an open WebSocket once they are revoked', async () => {
    const { id, token } = await pair();
    const watcher = await TestWatcher.open(board.url, { headers: { Authorization: `Bearer ${token}` } });
    watcher.send({ type: 'subscribe:tasks' });
    await eventually(() => expect(watcher.of('tasks:subscribed')).toHaveLength(1));
    await done(board, 'POST', `${path()}/device-sessions/${id}/revoke`);
    await eventually(() => expect(watcher.closed?.code).toBe(4001));
  });

  it('of another workspace are neither tested nor revoked', async () => {
    const other = await aWorkspace(board);
    const { id, token } = await pair({}, other);
    for (const workspaceId of ['local', other.workspaceId]) {
      for (const action of ['test', 'revoke']) {
        const target = `/api${path(workspaceId)}/device-sessions/${id}/${action}`;
        expect((await board.call('POST', target, { key: admin.key })).status).toBe(404);
      }
    }
    expect((await contextOf(token)).body).toMatchObject({ workspaceId: other.workspaceId });
  });
});
