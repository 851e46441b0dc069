import { agentKey, type ApiUnderTest, readKey, startTestApi } from '../api-under-test';
import { aPerson, done, type Person } from './people';

let board: ApiUnderTest;
let person: Person;
describe('users API', () => {
  beforeAll(async () => {
    board = await startTestApi();
    person = await aPerson(board, 'read-only');
  });
  afterAll(() => board.close());

  const profile = async (key?: string) => done(board, 'GET', '/identity/profile', key === undefined ? {} : { key });
  const rename = (key: string, displayName: string) =>
    board.call('PATCH', '/api/identity/profile', { key, body: { displayName } });

  it('are who a credential is of: the owner of the installation for keys of the configuration', async () => {
    expect(await profile()).toMatchObject({
      user: { id: 'local-user', status: 'active' },
      workspaceId: 'local',
      role: 'admin',
      memberships: [{ workspaceId: 'local', role: 'admin', status: 'active' }],
    });
    expect(await profile(readKey)).toMatchObject({ user: { id: 'local-user' }, role: 'read-only' });
    expect(await profile(person.key)).toMatchObject({
      user: { id: person.userId, displayName: expect.any(String) },
      role: 'read-only',
      memberships: [{ membershipId: person.membershipId, workspaceId: 'local' }],
    });
    expect((await board.call('GET', '/api/v1/identity/profile', { key: person.key })).status).toBe(200);
  });

  it('rename themselves, also with a role that changes nothing else; programs do not', async () => {
    expect(await rename(person.key, ' <b>Pia</b>')).toMatchObject({
      status: 200,
      body: { user: { displayName: 'Pia' } },
    });
    expect((await board.call('POST', '/api/tasks', { key: person.key, body: { title: 'No' } })).status).toBe(403);
    expect([(await rename(agentKey, 'Bot')).status, (await rename(readKey, 'Bot')).status]).toEqual([403, 403]);
    expect((await rename(person.key, '')).status).toBe(400);
    expect((await profile()).user.displayName).toBe('Local user');
  });

  it('are disabled by an administrator of the installation, and no credential of theirs is accepted', async () => {
    const { key, userId } = await aPerson(board, 'agent');
    const admin = await aPerson(board, 'admin');
    const setStatus = (status: string, by?: string) =>
      board.call('PATCH', `/api/identity/users/${userId}`, { body: { status }, ...(by !== undefined && { key: by }) });
    expect((await setStatus('disabled', admin.key)).status).toBe(403);
    expect((await setStatus('disabled')).body).toMatchObject({ id: userId, status: 'disabled' });
    expect((await board.call('GET', '/api/auth/context', { key })).status).toBe(401);
    await setStatus('active');
    expect((await board.call('GET', '/api/auth/context', { key })).status).toBe(200);
    const owner = await board.call('PATCH', '/api/identity/users/local-user', { body: { status: 'disabled' } });
    expect(owner).toMatchObject({ status: 409, body: { code: 'LOCAL_USER' } });
    expect(
      (await board.call('PATCH', '/api/identity/users/user_0123456789ab', { body: { status: 'active' } })).status,
    ).toBe(404);
  });

  it('of a workspace, also of local, do not administer what all workspaces have in common', async () => {
    const admin = await aPerson(board, 'admin');
    for (const [method, path, body] of [
      ['POST', '/api/auth/rotate-secret', {}],
      ['GET', '/api/auth/rotation-status', undefined],
      ['POST', '/api/identity/workspaces', { name: 'Mine' }],
    ] as const) {
      expect((await board.call(method, path, { key: admin.key, body })).status).toBe(403);
    }
  });

  it('are listed for administrators of the installation', async () => {
    const admin = await aPerson(board, 'admin');
    expect((await board.call('GET', '/api/identity/users', { key: admin.key })).status).toBe(403);
    const first = await board.call('GET', '/api/identity/users?limit=2');
    expect(first.body.map(({ id }: { id: string }) => id)[0]).toBe('local-user');
    expect(first.headers.get('X-Next-Cursor')).not.toBeNull();
  });
});
