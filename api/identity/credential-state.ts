import type { CredentialState } from '../../contracts/identity/token';
import type { User } from '../../contracts/identity/user';
import type { Permission, Role } from '../../contracts/permissions';
import { type Authority, authorityOf } from '../../domain/identity/grants';
import type { RosterMember } from '../../domain/identity/roster';
import type { WorkspaceRecord } from '../../stores/identity/workspace-store';
import type { ApiContext } from '../context';

/** What API tokens and device sessions have in common. */
interface Credential {
  workspaceId: string;
  userId: string;
  membershipId: string;
  role: Role;
  scopes?: Permission[];
  isRevoked: boolean;
  expiresAt?: string;
}

/** The member and the user that a credential depends on, as they are now. */
interface Holder {
  member: RosterMember | undefined;
  user: User | undefined;
}

/** The membership that a credential was made with; a later one of the same user is another. */
const memberIn = (workspace: WorkspaceRecord | undefined, { membershipId, userId }: Credential) =>
  workspace?.members.find((one) => one.id === membershipId && one.userId === userId);

const isAcceptable = ({ member, user }: Holder): boolean => member?.status === 'active' && user?.status === 'active';

/** Whether a credential is accepted, and if not, why. */
export function stateOf(credential: Credential, { member, user }: Holder, at: Date): CredentialState {
  if (credential.isRevoked) {
    return 'revoked';
  }
  if (credential.expiresAt !== undefined && Date.parse(credential.expiresAt) <= at.getTime()) {
    return 'expired';
  }
  if (!member) {
    return 'orphaned';
  }
  return isAcceptable({ member, user }) ? 'active' : 'suspended';
}

/** The states of credentials of one workspace, by one read of each user. */
export async function statesOf(
  { users }: Pick<ApiContext, 'users'>,
  workspace: WorkspaceRecord,
  { credentials, at }: { credentials: readonly (Credential & { _id: string })[]; at: Date },
): Promise<Map<string, CredentialState>> {
  const people = await users.named(credentials.map(({ userId }) => userId));
  return new Map(
    credentials.map((one) => [
      one._id,
      stateOf(one, { member: memberIn(workspace, one), user: people.get(one.userId) }, at),
    ]),
  );
}

/**
 * What a credential may do now, by its membership and user as they are stored at this moment; undefined when these do not accept
 * it. Whether the credential itself was revoked or has expired is known before.
 */
export async function currentAuthority(
  { users, workspaces }: Pick<ApiContext, 'users' | 'workspaces'>,
  credential: Credential,
): Promise<Authority | undefined> {
  const [workspace, user] = await Promise.all([workspaces.get(credential.workspaceId), users.get(credential.userId)]);
  const member = memberIn(workspace, credential);
  if (!member || !isAcceptable({ member, user })) {
    return undefined;
  }
  return authorityOf({ role: credential.role, scopes: credential.scopes, memberRole: member.role });
}
