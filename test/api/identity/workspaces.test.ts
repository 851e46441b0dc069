import { eventually } from '../../../platform/testing/eventually';
import { TestWatcher } from '../../support/watcher';
import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { aPerson, aWorkspace, done, type Person } from './people';

let board: ApiUnderTest;
let admin: Person;
let member: Person;
let other: Person;
describe('workspaces API', () => {
  beforeAll(async () => {
    board = await startTestApi({ BOARD_TRUSTED_PROXIES: '127.0.0.1' });
    admin = await aPerson(board, 'admin');
    member = await aPerson(board, 'agent');
    other = await aWorkspace(board);
  });
  afterAll(() => board.close());

  const local = '/api/identity/workspaces/local';
  const membersOf = async (key: string, status = 'active') =>
    (await board.call('GET', `${local}/members?status=${status}`, { key })).body;
  const patch = (membershipId: string, body: object, key = admin.key) =>
    board.call('PATCH', `${local}/members/${membershipId}`, { key, body });

  it('are those of the credential, all of them for an administrator of the installation', async () => {
    const idsFor = async (key?: string) =>
      (await done(board, 'GET', '/identity/workspaces', { ...(key && { key }) })).map(({ id }: { id: string }) => id);
    expect(await idsFor(member.key)).toEqual(['local']);
    expect(await idsFor(other.key)).toEqual([other.workspaceId]);
    expect(await idsFor(agentKey)).toEqual(['local']);
    expect(await idsFor()).toEqual(['local', other.workspaceId]);
  });

  it('are created by administrators of the installation, once under a key', async () => {
    const create = (key?: string) =>
      board.call('POST', '/api/identity/workspaces', {
        body: { name: 'Shop' },
        headers: { 'Idempotency-Key': 'create-shop' },
        ...(key !== undefined && { key }),
      });
    expect((await create(admin.key)).status).toBe(403);
    const { status, body, headers } = await create();
    expect([status, headers.get('etag')]).toEqual([201, `"workspaces:${body.id}:1"`]);
    expect(body).toMatchObject({ name: 'Shop', membership: { role: 'admin', status: 'active' } });
    expect((await create()).body).toEqual(body);
    const context = await done(board, 'GET', '/auth/context', { workspaceId: body.id });
    expect(context).toMatchObject({ workspaceId: body.id, role: 'admin' });
  });

  it('have a board of their own for each of their people', async () => {
    const title = 'Of the other workspace';
    const { id } = await done(board, 'POST', '/tasks', { key: other.key, body: { title } });
    expect((await board.call('GET', `/api/tasks/${id}`, { key: other.key })).body).toMatchObject({ title });
    expect((await board.call('GET', `/api/tasks/${id}`, { key: admin.key })).status).toBe(404);
    const header = { 'X-Board-Workspace': other.workspaceId };
    expect((await board.call('GET', `/api/tasks/${id}`, { key: admin.key, headers: header })).status).toBe(403);
    const audit = await board.call('GET', '/api/audit?action=membership.add', { key: other.key });
    expect(audit.body.entries).toMatchObject([{ actor: `user:${other.userId}` }]);
  });

  it('have members, whose addresses administrators read', async () => {
    const listed = await membersOf(member.key);
    expect(listed.map(({ userId }: { userId: string }) => userId)).toEqual(['local-user', admin.userId, member.userId]);
    expect(listed.every((one: object) => !('email' in one))).toBe(true);
    expect(await membersOf(admin.key)).toContainEqual(
      expect.objectContaining({ id: member.membershipId, email: expect.stringContaining('@example.org') }),
    );
  });

  it('are renamed at the stated revision', async () => {
    const { body, headers } = await board.call('GET', local, { key: member.key });
    expect(body.membership).toEqual({ membershipId: member.membershipId, role: 'agent', status: 'active' });
    const change = (name: string) =>
      board.call('PATCH', local, {
        key: admin.key,
        body: { name },
        headers: { 'If-Match': headers.get('etag') ?? '' },
      });
    expect(await change('Our board')).toMatchObject({ status: 200, body: { name: 'Our board' } });
    const stale = await change('Their board');
    expect(stale).toMatchObject({ status: 409, body: { details: { current: { name: 'Our board' } } } });
    expect(stale.body.details.current.members).toBeUndefined();
  });

  it('of others are not found, whatever the credential and the request', async () => {
    const { workspaceId, membershipId } = other;
    const path = `/api/identity/workspaces/${workspaceId}`;
    for (const key of [admin.key, member.key, agentKey, readKey]) {
      expect((await board.call('GET', path, { key })).status).toBe(404);
      expect((await board.call('GET', `${path}/members`, { key })).status).toBe(404);
    }
    for (const [method, rest, body] of [
      ['PATCH', '', { name: 'Mine' }],
      ['PATCH', `/members/${membershipId}`, { role: 'agent' }],
      ['DELETE', `/members/${membershipId}`, undefined],
      ['POST', '/invitations', { email: 'a@example.org', role: 'agent' }],
      ['POST', '/api-tokens', { name: 'mine', role: 'agent' }],
    ] as const) {
      const theirs = await board.call(method, `${path}${rest}`, { key: admin.key, body });
      const none = await board.call(method, `${path.slice(0, -1)}z${rest}`, { key: admin.key, body });
      expect([theirs.status, none.status]).toEqual([404, 404]);
      expect(theirs.body.code).toBe(none.body.code);
    }
    expect(await done(board, 'GET', `/identity/workspaces/${workspaceId}/members`, { workspaceId })).toHaveLength(2);
    expect(await board.call('GET', path)).toMatchObject({
      status: 409,
      body: { code: 'WORKSPACE_NOT_SELECTED', details: { workspaceId, selected: 'local' } },
    });
  });

  it('are selected by sessions only; another credential is for its own', async () => {
    const select = (workspaceId: string, key: string) =>
      board.call('POST', '/api/identity/workspaces/switch', { key, body: { workspaceId } });
    expect(await select('local', member.key)).toMatchObject({
      status: 200,
      body: { workspaceId: 'local', membershipId: member.membershipId, role: 'agent' },
    });
    for (const target of [other.workspaceId, 'ws-none']) {
      expect(await select(target, member.key)).toMatchObject({
        status: 409,
        body: { code: 'WORKSPACE_BOUND', details: { workspaceId: 'local' } },
      });
    }
  });

  it('are switched by a session, for which each is its own, with its role there and its sockets closed', async () => {
    await board.api.context.setupCodes.add('ABCDE-FGHJK-LMNPQ-RSTUV', 60_000);
    const password = { code: 'ABCDE-FGHJK-LMNPQ-RSTUV', password: 'correct horse battery' };
    const { token } = (await board.call('POST', '/api/auth/setup', { key: null, body: password })).body;
    const headers = { Authorization: `Bearer ${token}` };
    const call = (method: string, path: string, body?: object) =>
      board.call(method, `/api${path}`, { key: null, headers, body });
    const there = `/identity/workspaces/${other.workspaceId}/members`;
    expect(await call('GET', there)).toMatchObject({
      status: 409,
      body: { details: { next: { method: 'POST', body: { workspaceId: other.workspaceId } } } },
    });
    const watcher = await TestWatcher.open(board.url, { headers });
    expect(await call('POST', '/identity/workspaces/switch', { workspaceId: other.workspaceId })).toMatchObject({
      status: 200,
      body: { workspaceId: other.workspaceId, role: 'admin' },
    });
    expect((await call('GET', there)).body).toHaveLength(2);
    expect((await call('GET', '/auth/context')).body).toMatchObject({ workspaceId: other.workspaceId, role: 'admin' });
    await eventually(() => expect(watcher.closed?.code).toBe(4001));
    const owner = (await call('GET', there)).body.find((one: { userId: string }) => one.userId === 'local-user').id;
    await done(board, 'PATCH', `${there}/${owner}`, { key: other.key, body: { role: 'read-only' } });
    expect((await call('POST', '/tasks', { title: 'No' })).status).toBe(403);
    expect((await call('POST', '/identity/workspaces/switch', { workspaceId: 'ws-000000000000' })).status).toBe(404);
    expect((await call('POST', '/identity/workspaces/switch', { workspaceId: 'local' })).body.role).toBe('admin');
    await done(board, 'PATCH', `${there}/${owner}`, { key: other.key, body: { status: 'suspended' } });
    expect((await call('POST', '/identity/workspaces/switch', { workspaceId: other.workspaceId })).status).toBe(403);
    await done(board, 'PATCH', `${there}/${owner}`, { key: other.key, body: { status: 'active', role: 'admin' } });
  });

  it('take a role away at once, and report why a credential may do less', async () => {
    const { key, membershipId } = await aPerson(board, 'admin');
    const context = async () => (await board.call('GET', '/api/auth/context', { key })).body;
    expect(await context()).toMatchObject({ role: 'admin', membershipId, workspaceId: 'local' });
    expect((await patch(membershipId, { role: 'read-only' })).status).toBe(200);
    const degraded = await context();
    expect(degraded).toMatchObject({ role: 'read-only', degradedReason: expect.stringContaining('read-only') });
    expect(degraded.permissions).not.toContain('task:write');
    expect((await board.call('POST', '/api/tasks', { key, body: { title: 'No' } })).status).toBe(403);
    expect((await patch(membershipId, { status: 'suspended' })).status).toBe(200);
    expect((await board.call('GET', '/api/auth/context', { key })).status).toBe(401);
    expect(await membersOf(admin.key, 'suspended')).toMatchObject([{ id: membershipId, role: 'read-only' }]);
    await patch(membershipId, { status: 'active', role: 'agent' });
    expect(await context()).toMatchObject({ role: 'agent' });
    expect((await board.call('DELETE', `${local}/members/${membershipId}`, { key: admin.key })).status).toBe(204);
    expect((await board.call('GET', '/api/auth/context', { key })).status).toBe(401);
    expect((await patch(membershipId, { role: 'agent' })).status).toBe(404);
  });

  it('are changed by their administrators only, with audit and activity', async () => {
    expect((await patch(member.membershipId, { role: 'admin' }, member.key)).status).toBe(403);
    expect((await patch(member.membershipId, {})).status).toBe(400);
    await patch(member.membershipId, { role: 'read-only' });
    await patch(member.membershipId, { role: 'agent' });
    const { body } = await board.call('GET', `/api/audit?resource=${member.membershipId}&action=membership.update`);
    expect(body.entries[0]).toMatchObject({
      actor: `user:${admin.userId}`,
      details: { userId: member.userId, from: { role: 'read-only' }, to: { role: 'agent' }, workspaceId: 'local' },
    });
    const [activity] = (await board.call('GET', '/api/activity?type=membership_updated')).body;
    expect(activity).toMatchObject({ actor: `user:${admin.userId}`, details: { membershipId: member.membershipId } });
    expect(activity).not.toHaveProperty('taskId');
  });

  it('have no suspension taken back by a credential that could not give the role', async () => {
    const { membershipId } = await aPerson(board, 'admin');
    await patch(membershipId, { status: 'suspended' });
    const body = { name: 'personnel', role: 'admin', scopes: ['admin:manage', 'workspace:read'] };
    const { token } = await done(board, 'POST', '/identity/workspaces/local/api-tokens', { key: admin.key, body });
    expect((await patch(membershipId, { status: 'active' }, token)).status).toBe(403);
    expect((await patch(membershipId, { status: 'active' })).status).toBe(200);
    expect((await patch(membershipId, { status: 'suspended' }, token)).status).toBe(200);
  });

  it('never lose their last administrator', async () => {
    const { workspaceId, membershipId, key } = await aWorkspace(board, 'Two');
    const members = `/api/identity/workspaces/${workspaceId}/members`;
    const listed = (await board.call('GET', members, { key })).body;
    const owner = listed.find(({ userId }: { userId: string }) => userId === 'local-user').id;
    const both = await Promise.all(
      [owner, membershipId].map((id) =>
        board.call('PATCH', `${members}/${id}`, {
          body: { role: 'agent' },
          headers: { 'X-Board-Workspace': workspaceId },
        }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = both.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'LAST_ADMIN', details: { next: { method: 'GET', path: members } } });
  });
});
