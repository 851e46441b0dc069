import { agentKey, type ApiUnderTest, startTestApi } from '../api-under-test';
import { aPerson, aWorkspace, done } from './people';

let board: ApiUnderTest;
describe('invitations API', () => {
  beforeAll(async () => {
    board = await startTestApi({ BOARD_TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => board.close());

  const path = '/identity/workspaces/local/invitations';
  const invite = (email: string, role = 'agent') => done(board, 'POST', path, { body: { email, role } });
  const accept = (body: object, address = '192.0.2.1') =>
    board.call('POST', '/api/auth/invitations/accept', { key: null, body, headers: { 'X-Forwarded-For': address } });

  it('are accepted without a credential, once, for an API token that is shown once', async () => {
    const { token, id, ...invited } = await invite('Ann@Example.org');
    expect(invited).toMatchObject({ email: 'ann@example.org', role: 'agent', state: 'pending', workspaceId: 'local' });
    const person = { token, displayName: 'Ann', email: 'ann@example.org' };
    const accepted = await accept(person);
    expect(accepted).toMatchObject({
      status: 201,
      body: { workspaceId: 'local', role: 'agent', user: { displayName: 'Ann', status: 'active' } },
    });
    const { user, apiToken } = accepted.body;
    const context = await board.call('GET', '/api/auth/context', { key: apiToken.token });
    expect(context.body).toMatchObject({ actor: `user:${user.id}`, actorType: 'user', userId: user.id, role: 'agent' });
    expect(await accept(person)).toMatchObject({ status: 409, body: { code: 'INVITATION_NOT_PENDING' } });
    const listed = await done(board, 'GET', path);
    expect(listed[0]).toMatchObject({ id, state: 'accepted', acceptedBy: `user:${user.id}` });
    expect(JSON.stringify(listed)).not.toContain(token);
    const audit = await board.call('GET', `/api/audit?action=membership.add&resource=${accepted.body.membershipId}`);
    expect(audit.body.entries).toMatchObject([{ actor: `user:${user.id}`, details: { to: { role: 'agent' } } }]);
  });

  it('get the same response when the first one was lost, until its API token is used', async () => {
    const { token } = await invite('bo@example.org');
    const person = { token, displayName: 'Bo', email: 'bo@example.org' };
    const [first, again] = [await accept(person), await accept(person)];
    expect(again).toMatchObject({ status: 201, body: { apiToken: { token: first.body.apiToken.token } } });
    expect((await accept({ ...person, displayName: 'Mallory' })).status).toBe(409);
    await board.call('GET', '/api/auth/context', { key: first.body.apiToken.token });
    expect((await accept(person)).status).toBe(409);
    expect((await done(board, 'GET', '/activity?type=membership_updated&limit=1'))[0]).toMatchObject({
      details: { membershipId: first.body.membershipId },
    });
  });

  it('are accepted by one of several at the same moment', async () => {
    const { token } = await invite('cy@example.org');
    const replies = await Promise.all(
      Array.from({ length: 5 }, (_each, n) =>
        accept({ token, displayName: `Cy ${n}`, email: 'cy@example.org' }, '192.0.2.2'),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('are refused with another address, with another token, and when they were revoked', async () => {
    const { token, id } = await invite('dee@example.org');
    const person = { token, displayName: 'Dee', email: 'dee@example.org' };
    for (const wrong of [{ email: 'eve@example.org' }, { token: `${token.slice(0, -3)}AAA` }, { token: 'rbi_x' }]) {
      expect(await accept({ ...person, ...wrong }, '192.0.2.3')).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INVITATION_REQUEST' },
      });
    }
    expect((await board.call('POST', `/api/identity/invitations/${id}/revoke`)).body.state).toBe('revoked');
    expect((await accept(person, '192.0.2.3')).status).toBe(409);
    expect((await board.call('POST', `/api/identity/invitations/${id}/revoke`)).status).toBe(409);
    const audit = await board.call('GET', '/api/audit?action=invitation.refused');
    expect(audit.body.entries[0]).toMatchObject({ actor: 'user:anonymous', resource: '192.0.2.3' });
    expect(JSON.stringify(audit.body)).not.toContain(token);
  });

  it('are limited to a few failures for an address, while others go on', async () => {
    const { token } = await invite('fay@example.org');
    const wrong = { token: 'rbi_x', displayName: 'Guess', email: 'fay@example.org' };
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      statuses.push((await accept({ ...wrong, token: `rbi_${n}` }, '198.51.100.7')).status);
    }
    expect(statuses.slice(0, 5)).toEqual([400, 400, 400, 400, 400]);
    expect(statuses.at(-1)).toBe(429);
    const right = { token, displayName: 'Fay', email: 'fay@example.org' };
    const limited = await accept(right, '198.51.100.7');
    expect([limited.status, Number(limited.headers.get('Retry-After')) > 0]).toEqual([429, true]);
    expect((await accept(right, '198.51.100.8')).status).toBe(201);
  });

  it('take a person who is signed in into another workspace, with a token for it', async () => {
    const { workspaceId, key: adminThere } = await aWorkspace(board);
    const person = await aPerson(board, 'read-only');
    const there = `/identity/workspaces/${workspaceId}`;
    const body = { email: 'whatever@example.org', role: 'agent' };
    const { token } = await done(board, 'POST', `${there}/invitations`, { key: adminThere, body });
    expect(
      (await board.call('POST', '/api/identity/invitations/accept', { key: agentKey, body: { token } })).status,
    ).toBe(403);
    const accepted = await done(board, 'POST', '/identity/invitations/accept', { key: person.key, body: { token } });
    expect(accepted).toMatchObject({ workspaceId, role: 'agent', user: { id: person.userId } });
    const { token: key } = accepted.apiToken;
    expect((await board.call('GET', '/api/auth/context', { key })).body).toMatchObject({ workspaceId, role: 'agent' });
    expect((await board.call('GET', '/api/auth/context', { key: person.key })).body).toMatchObject({
      workspaceId: 'local',
      role: 'read-only',
    });
  });

  it('of another workspace can be neither listed nor revoked', async () => {
    const { workspaceId, key } = await aWorkspace(board);
    const { key: adminHere } = await aPerson(board, 'admin');
    const there = `/identity/workspaces/${workspaceId}/invitations`;
    const body = { email: 'gil@example.org', role: 'agent' };
    const { id } = await done(board, 'POST', there, { key, body });
    expect((await board.call('GET', `/api${there}`, { key: adminHere })).status).toBe(404);
    expect((await board.call('POST', `/api/identity/invitations/${id}/revoke`, { key: adminHere })).status).toBe(404);
    expect((await done(board, 'GET', there, { key }))[0]).toMatchObject({ id, state: 'pending' });
  });

  it('end when the administrator who made them is one no more', async () => {
    const maker = await aPerson(board, 'admin');
    const body = { email: 'jon@example.org', role: 'admin' };
    const { token, id } = await done(board, 'POST', path, { key: maker.key, body });
    await done(board, 'PATCH', `/identity/workspaces/local/members/${maker.membershipId}`, { body: { role: 'agent' } });
    const back = await board.call('POST', '/api/identity/invitations/accept', { key: maker.key, body: { token } });
    expect(back).toMatchObject({ status: 409, body: { code: 'INVITATION_NOT_PENDING' } });
    const listed = await done(board, 'GET', path);
    expect(listed.find((one: { id: string }) => one.id === id)).toMatchObject({ state: 'revoked' });
  });

  it('are one for each address, and give no more than their administrator has', async () => {
    await invite('hal@example.org');
    const again = await board.call('POST', `/api${path}`, { body: { email: 'HAL@example.org', role: 'agent' } });
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'INVITATION_PENDING', details: { next: { method: 'POST' } } },
    });
    const scoped = await done(board, 'POST', '/identity/workspaces/local/api-tokens', {
      body: { name: 'inviter', role: 'admin', scopes: ['admin:manage', 'workspace:read'] },
    });
    const widened = await board.call('POST', `/api${path}`, {
      key: scoped.token,
      body: { email: 'ida@example.org', role: 'agent' },
    });
    expect(widened).toMatchObject({
      status: 403,
      body: { details: { required: expect.arrayContaining(['task:write']) } },
    });
  });
});
