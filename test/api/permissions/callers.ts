import { sessionCookie } from '../../../platform/http/auth/credentials';
import type { ApiUnderTest } from '../api-under-test';
import { signedPairing } from '../identity/pairing';
import { aPerson, done } from '../identity/people';

type Headers = Record<string, string>;

/** The cookie of a person who has signed in with a provider, as an administrator. */
export async function signedInAdmin(board: ApiUnderTest, expiresInMs = 3_600_000): Promise<Headers> {
  const { oidc, sessions, sessionTokens, users, workspaces } = board.api.context;
  const { userId } = await oidc.grant('https://id.example', `admin ${expiresInMs}`, 'admin');
  await users.create(userId, { displayName: 'Signed in' });
  const at = new Date().toISOString();
  const member = { id: `member_${userId.slice(5)}`, userId, role: 'admin', status: 'active', joinedAt: at } as const;
  await workspaces.join('local', member);
  const expiresAt = new Date(Date.now() + expiresInMs);
  const _id = `session_${userId.slice(5)}`;
  await sessions.add({
    ...{ _id, userId, workspaceId: 'local', role: 'admin', method: 'oidc', remembered: false },
    ...{ createdAt: at, lastUsedAt: at, expiresAt: expiresAt.toISOString() },
  });
  // The record decides: the token by itself is valid for longer.
  const token = await sessionTokens.sign({ sessionId: _id, userId }, new Date(Date.now() + 3_600_000));
  return { Cookie: `${sessionCookie}=${token}` };
}

/** The token of somebody who was an administrator, and has been removed. */
export async function removedMember(board: ApiUnderTest): Promise<Headers> {
  const { key, membershipId } = await aPerson(board, 'admin');
  await done(board, 'DELETE', `/identity/workspaces/local/members/${membershipId}`);
  return { 'X-API-Key': key };
}

/** The token of a paired device that has been revoked. */
export async function revokedDevice(board: ApiUnderTest): Promise<Headers> {
  const { key } = await aPerson(board, 'admin');
  const offered = { capabilities: [], scopes: ['workspace:read', 'task:read', 'task:write'], role: 'admin' };
  const { code } = await done(board, 'POST', '/identity/workspaces/local/device-pairing-codes', {
    key,
    body: { deviceName: 'Lost', clientMode: 'mobile', ...offered },
  });
  const { id, token } = await done(board, 'POST', '/auth/device-pairing/exchange', {
    body: signedPairing(code, offered),
  });
  await done(board, 'POST', `/identity/workspaces/local/device-sessions/${id}/revoke`, { key });
  return { Authorization: `Bearer ${token}` };
}
