import { type AuthContext, type AuthSettings, createAuthenticator } from './auth';
import type { PresentedCredential } from './credentials';

const here = { remoteAddress: '127.0.0.1', localAddress: '127.0.0.1', localPort: 3001 };
const host = '127.0.0.1:3001';
const key = 'a-key-of-the-environment';

const ownerOf = (tokenName: string): AuthContext => ({
  role: 'agent',
  userId: 'ada',
  workspaceId: 'local',
  actorType: 'user',
  authMethod: 'session',
  tokenName,
  permissions: [],
  actor: `user:${tokenName}`,
});

/** An authenticator with one key, the bypass, and one verifier that accepts `session` in a cookie and `token` as a key. */
function authenticatorWith(settings: Partial<AuthSettings> = {}) {
  const asked: PresentedCredential[] = [];
  const authenticate = createAuthenticator({
    enabled: true,
    origins: { allowedOrigins: [], allowLocalOrigins: true },
    apiKeys: [{ name: 'ci', key, role: 'agent' }],
    localRole: 'read-only',
    rolePermissions: { admin: [], agent: [], 'read-only': [] },
    verifiers: [
      async (credential) => {
        asked.push(credential);
        const isOwn = credential.carrier === 'cookie' ? credential.value === 'session' : credential.value === 'token';
        return isOwn ? ownerOf(credential.value) : undefined;
      },
    ],
    ...settings,
  });
  const nameOf = async (headers: Record<string, string>, queryKey?: string) =>
    (await authenticate({ host, ...headers }, here, queryKey))?.tokenName;
  return { asked, nameOf };
}

describe('the caller of a request', () => {
  const { nameOf } = authenticatorWith();

  it.each([
    ['a cookie', { cookie: 'theme=dark; board_session=session' }, 'session'],
    ['a cookie before a key', { cookie: 'board_session=session', 'x-api-key': key }, 'session'],
    ['a key, when the cookie is wrong', { cookie: 'board_session=old', 'x-api-key': key }, 'ci'],
    ['a bearer token before the header', { authorization: 'Bearer token', 'x-api-key': key }, 'token'],
    ['a key of the environment', { authorization: `Bearer ${key}` }, 'ci'],
    ['the header', { 'x-api-key': 'token' }, 'token'],
    ['nothing, on this machine', {}, 'localhost-bypass'],
  ])('is identified by %s', async (_case, headers, name) => expect(await nameOf(headers)).toBe(name));

  it.each([
    ['a wrong cookie', { cookie: 'board_session=old' }],
    ['two cookies, of which one is right', { cookie: 'board_session=session; board_session=other' }],
    ['a key in the cookie', { cookie: `board_session=${key}` }],
    ['a wrong key', { 'x-api-key': 'wrong' }],
    ['a wrong bearer token with a right key', { authorization: 'Bearer wrong', 'x-api-key': key }],
  ])('is unknown with %s, also on this machine', async (_case, headers) =>
    expect(await nameOf(headers)).toBeUndefined(),
  );

  it('is identified by the key of the query where that is one', async () => expect(await nameOf({}, key)).toBe('ci'));
});

describe('a verifier', () => {
  it('is not asked about a key of the environment, nor when nothing is presented', async () => {
    const { asked, nameOf } = authenticatorWith();
    await nameOf({ 'x-api-key': key });
    await nameOf({});
    expect(asked).toEqual([]);
    await nameOf({ authorization: 'Bearer x' });
    expect(asked).toEqual([{ carrier: 'bearer', value: 'x' }]);
  });
});
