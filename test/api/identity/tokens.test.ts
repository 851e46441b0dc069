import { rolePermissions } from '../../../contracts/permissions';
import { type ApiUnderTest, startTestApi } from '../api-under-test';
import { aPerson, aWorkspace, done, type Person } from './people';

let board: ApiUnderTest;
let admin: Person;
describe('API tokens', () => {
  beforeAll(async () => {
    board = await startTestApi();
    admin = await aPerson(board, 'admin');
  });
  afterAll(() => board.close());

  const path = '/identity/workspaces/local/api-tokens';
  const create = (body: object, key = admin.key) => board.call('POST', `/api${path}`, { key, body });
  const contextOf = (key: string) => board.call('GET', '/api/auth/context', { key });
  const act = (id: string, action: string, body?: object) =>
    board.call('POST', `/api${path}/${id}/${action}`, { key: admin.key, body });

  it('are shown once, and act as the agent or service of their name', async () => {
    const { status, body } = await create({ name: 'robin', role: 'agent' });
    expect(status).toBe(201);
    const { token, ...shown } = body;
    expect(shown).toMatchObject({ name: 'robin', role: 'agent', subject: 'agent', state: 'active', revision: 1 });
    expect((await contextOf(token)).body).toMatchObject({
      ...{ actor: 'agent:robin', actorType: 'agent', authMethod: 'api-key', tokenName: 'robin', role: 'agent' },
      ...{ userId: admin.userId, membershipId: admin.membershipId, workspaceId: 'local', tokenId: shown.id },
    });
    const listed = await board.call('GET', `/api${path}`, { key: admin.key });
    expect(listed.body[0]).toEqual({ ...shown, lastUsedAt: expect.any(String) });
    expect(JSON.stringify(listed.body)).not.toContain(token.slice(30));
    const bearer = await board.call('GET', '/api/auth/context', {
      key: null,
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(bearer.status).toBe(200);
    const audit = await board.call('GET', `/api/audit?resource=${shown.id}`);
    expect(audit.body.entries).toMatchObject([
      { action: 'api-token.create', details: { name: 'robin', role: 'agent' } },
    ]);
    expect(JSON.stringify(audit.body)).not.toContain(token);
  });

  it('are limited to their scopes', async () => {
    const { body } = await create({ name: 'reader', role: 'admin', scopes: ['task:read', 'workspace:read'] });
    expect((await contextOf(body.token)).body).toMatchObject({
      role: 'admin',
      permissions: ['workspace:read', 'task:read'],
    });
    expect((await board.call('GET', '/api/tasks', { key: body.token })).status).toBe(200);
    expect((await board.call('POST', '/api/tasks', { key: body.token, body: { title: 'No' } })).status).toBe(403);
    expect((await create({ name: 'escalated', role: 'admin' }, body.token)).status).toBe(403);
  });

  it.each([[['task:read', 'task:write']], [['comment:write']]])(
    'with the scopes %j alone read what they may do',
    async (scopes) => {
      const { body } = await create({ name: `narrow-${scopes.length}`, role: 'agent', scopes });
      expect(await contextOf(body.token)).toMatchObject({ status: 200, body: { permissions: scopes, role: 'agent' } });
      expect((await board.call('GET', '/api/identity/workspaces', { key: body.token })).status).toBe(403);
      expect((await board.call('GET', '/api/auth/context', { key: null })).status).toBe(401);
    },
  );

  it('give no more than the credential that makes them has, and scopes of their role only', async () => {
    const scopes = ['admin:manage', 'task:read'];
    const limited = (await create({ name: 'maker', role: 'admin', scopes })).body.token;
    expect(await create({ name: 'all', role: 'admin' }, limited)).toMatchObject({
      status: 403,
      body: { details: { required: rolePermissions.admin.filter((one) => !scopes.includes(one)) } },
    });
    expect((await create({ name: 'less', role: 'agent', scopes: ['task:read'] }, limited)).status).toBe(201);
    expect(await create({ name: 'odd', role: 'agent', scopes: ['task:read', 'settings:write'] })).toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'scopes.1' }] } },
    });
    expect((await create({ name: 'past', role: 'agent', expiresAt: '2020-01-01T00:00:00.000Z' })).status).toBe(400);
    expect((await create({ name: 'worker', role: 'agent' })).body).toMatchObject({ code: 'NAME_TAKEN' });
  });

  it('are rotated with a grace, and revoked at once', async () => {
    const { token: first, id } = (await create({ name: 'rotating', role: 'agent' })).body;
    const { status, body } = await act(id, 'rotate', { gracePeriodMs: 600_000 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ revision: 2, formerSecretUntil: expect.any(String) });
    expect([(await contextOf(first)).status, (await contextOf(body.token)).status]).toEqual([200, 200]);
    const { token: third } = (await act(id, 'rotate', { gracePeriodMs: 0 })).body;
    const statuses = [first, body.token, third].map(async (key) => (await contextOf(key)).status);
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
    expect((await act(id, 'revoke')).body).toMatchObject({ state: 'revoked', revokedBy: `user:${admin.userId}` });
    expect((await contextOf(third)).status).toBe(401);
    expect(await act(id, 'rotate', {})).toMatchObject({ status: 409, body: { code: 'TOKEN_NOT_ACTIVE' } });
    expect((await act(id, 'revoke')).status).toBe(200);
    expect((await create({ name: 'rotating', role: 'agent' })).status).toBe(201);
  });

  it('end with the membership they were made with, and are not revived by another one', async () => {
    const person = await aPerson(board, 'admin');
    const { token, id } = (await create({ name: 'theirs', role: 'agent' }, person.key)).body;
    await done(board, 'DELETE', `/identity/workspaces/local/members/${person.membershipId}`);
    expect((await contextOf(token)).status).toBe(401);
    const joinedAt = new Date().toISOString();
    const again = {
      id: 'member_aaaaaaaaaaaa',
      userId: person.userId,
      role: 'admin',
      status: 'active',
      joinedAt,
    } as const;
    await board.api.context.workspaces.join('local', again);
    expect((await contextOf(token)).status).toBe(401);
    const listed = await done(board, 'GET', path);
    expect(listed.find((one: { id: string }) => one.id === id)).toMatchObject({ state: 'orphaned' });
  });

  it('of a person are rotated by that person only, and not with the former secret', async () => {
    const { key, membershipId } = await aPerson(board, 'read-only');
    const { body: listed } = await board.call('GET', `/api${path}`, { key: admin.key });
    const { id } = listed.find((one: { name: string }) => one.name === membershipId);
    expect((await act(id, 'rotate', {})).status).toBe(403);
    const rotateOwn = (presented: string) =>
      board.call('POST', '/api/identity/profile/api-token/rotate', { key: presented, body: {} });
    const { body } = await rotateOwn(key);
    expect((await contextOf(body.token)).body).toMatchObject({ actorType: 'user', role: 'read-only' });
    expect((await contextOf(key)).status).toBe(200);
    expect(await rotateOwn(key)).toMatchObject({ status: 409, body: { code: 'TOKEN_NOT_ACTIVE' } });
    const service = (await create({ name: 'own', role: 'agent' })).body.token;
    expect(await rotateOwn(service)).toMatchObject({ status: 409, body: { code: 'NO_OWN_TOKEN' } });
  });

  it('of another workspace are neither found there nor here', async () => {
    const other = await aWorkspace(board);
    const there = `/identity/workspaces/${other.workspaceId}/api-tokens`;
    const { id, token } = await done(board, 'POST', there, { key: other.key, body: { name: 'theirs', role: 'agent' } });
    for (const target of [`${path}/${id}/revoke`, `${there}/${id}/revoke`, `${there}/${id}/rotate`]) {
      expect((await board.call('POST', `/api${target}`, { key: admin.key, body: {} })).status).toBe(404);
    }
    expect((await contextOf(token)).body).toMatchObject({ workspaceId: other.workspaceId });
  });

  it.each(['rbk_', 'rbk_0123456789abcdef01234567_', `rbk_0123456789abcdef01234567_${'A'.repeat(43)}`])(
    'that were never issued are refused: %s',
    async (key) => {
      expect((await contextOf(key)).status).toBe(401);
    },
  );
});
