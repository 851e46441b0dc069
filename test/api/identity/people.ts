import type { Role } from '../../../contracts/permissions';
import type { ApiUnderTest, Reply } from '../api-under-test';

/** Somebody who has accepted an invitation. */
export interface Person {
  userId: string;
  membershipId: string;
  workspaceId: string;
  /** The API token to present. */
  key: string;
}

let invited = 0;

/** A call that must succeed; returns the body. */
export async function done(
  board: ApiUnderTest,
  method: string,
  path: string,
  { body, key, workspaceId }: { body?: unknown; key?: string; workspaceId?: string } = {},
): Promise<Reply['body']> {
  const headers = workspaceId === undefined ? undefined : { 'X-Board-Workspace': workspaceId };
  const reply = await board.call(method, `/api${path}`, { body, headers, ...(key !== undefined && { key }) });
  if (reply.status >= 300) {
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }
  return reply.body;
}

/** Invites somebody to a workspace, who accepts. */
export async function aPerson(
  board: ApiUnderTest,
  role: Role,
  { workspaceId = 'local', key }: { workspaceId?: string; key?: string } = {},
): Promise<Person> {
  invited += 1;
  const email = `person-${invited}@example.org`;
  const { token } = await done(board, 'POST', `/identity/workspaces/${workspaceId}/invitations`, {
    body: { email, role },
    workspaceId,
    ...(key !== undefined && { key }),
  });
  const body = { token, displayName: `Person ${invited}`, email };
  const accepted = await done(board, 'POST', '/auth/invitations/accept', { body });
  return {
    workspaceId,
    userId: accepted.user.id,
    membershipId: accepted.membershipId,
    key: accepted.apiToken.token,
  };
}

/** Another workspace, and its first administrator but for the owner of the installation. */
export async function aWorkspace(board: ApiUnderTest, name = 'Other'): Promise<Person> {
  const { id } = await done(board, 'POST', '/identity/workspaces', { body: { name } });
  return aPerson(board, 'admin', { workspaceId: id });
}
