import type { AcceptedInvitation } from '../../../contracts/identity/invitation';
import type { IssuedToken } from '../../../contracts/identity/token';
import type { User } from '../../../contracts/identity/user';
import type { RosterMember } from '../../../domain/identity/roster';
import { refusal, RefusedError } from '../../../domain/refusal';
import { exchangedToken, type SecretToken } from '../../../platform/crypto/secret-token';
import { AppError, assertFound } from '../../../platform/errors/app-error';
import { digestOf } from '../../../platform/json/digest';
import type { InvitationRecord } from '../../../stores/identity/invitation-store';
import type { TokenRecord } from '../../../stores/identity/token-store';
import type { ApiContext } from '../../context';
import { recordMembership } from '../membership-record';
import { presentToken } from '../tokens/present';
import { personTokenLifetimeMs } from '../tokens/routes.own';

export type AcceptContext = Pick<ApiContext, 'apiTokens' | 'invitations' | 'now' | 'records' | 'users' | 'workspaces'>;

/** For how long a repetition of the same acceptance gets the same response, in milliseconds. */
const repeatableMs = 10 * 60_000;

interface Acceptance {
  record: InvitationRecord;
  /** From which the id of the membership and the API token follow: those of a repetition are the same. */
  exchanged: SecretToken;
  userId: string;
}

const invalid = (): AppError =>
  new AppError('INVALID_INVITATION_REQUEST', {
    status: 400,
    message: 'This is no token of an invitation, or not one for this address.',
    details: { issues: [{ path: 'token', message: 'is no token of an invitation for this address' }] },
  });

/**
 * Accepts an invitation for a person without a credential: a new user, who signs in with the API token in the response.
 * A user with the same address is another one, since an address proves nothing.
 *
 * @throws AppError 400 `INVALID_INVITATION_REQUEST`; RefusedError `INVITATION_NOT_PENDING`
 */
export async function acceptAsNewUser(
  context: AcceptContext,
  { token, displayName, email }: { token: string; displayName: string; email: string },
): Promise<AcceptedInvitation> {
  const found = await context.invitations.ofToken(token);
  if (!found || found.record.email !== email.toLowerCase()) {
    throw invalid();
  }
  const { record, secret } = found;
  const exchanged = exchangedToken(secret, digestOf({ accept: record._id, displayName, email: record.email }));
  const acceptance = { record, exchanged, userId: `user_${exchanged.id.slice(0, 12)}` };
  const member = await join(context, acceptance);
  const user = await context.users.create(acceptance.userId, { displayName, email: record.email });
  const apiToken = await issue(context, acceptance, { member, user });
  return conclude(context, acceptance, { member, user, apiToken });
}

/**
 * Accepts an invitation as the user who is signed in.
 *
 * @param needsToken whether the caller's own credential is for another workspace only, and another one is issued
 * @throws AppError 400 `INVALID_INVITATION_REQUEST`; RefusedError `INVITATION_NOT_PENDING`, `ALREADY_MEMBER`
 */
export async function acceptAsUser(
  context: AcceptContext,
  token: string,
  { user, needsToken }: { user: User; needsToken: boolean },
): Promise<AcceptedInvitation> {
  const found = await context.invitations.ofToken(token);
  if (!found) {
    throw invalid();
  }
  const { record, secret } = found;
  const exchanged = exchangedToken(secret, digestOf({ accept: record._id, userId: user.id }));
  const acceptance = { record, exchanged, userId: user.id };
  await context.users.noteWorkspace(user.id, record.workspaceId);
  const member = await join(context, acceptance);
  const apiToken = needsToken ? await issue(context, acceptance, { member, user }) : undefined;
  return conclude(context, acceptance, { member, user, apiToken });
}

/**
 * Uses the invitation and makes the user a member in one step, so that of several only one accepts it.
 *
 * @returns also the member that the first try of the same acceptance has made, shortly after it
 */
async function join(context: AcceptContext, { record, exchanged, userId }: Acceptance): Promise<RosterMember> {
  const { workspaces } = context;
  const id = `member_${exchanged.id.slice(12)}`;
  try {
    const { members } = await workspaces.accept(record.workspaceId, record._id, { id, userId });
    const joined = members.find((one) => one.id === id);
    assertFound(joined, 'member', id);
    return joined;
  } catch (error) {
    const isUsed = error instanceof RefusedError && error.refusal.code === 'INVITATION_NOT_PENDING';
    const members = isUsed ? ((await workspaces.get(record.workspaceId))?.members ?? []) : [];
    const member = members.find((one) => one.id === id && one.userId === userId);
    if (member && context.now().getTime() - Date.parse(member.joinedAt) < repeatableMs) {
      return member;
    }
    throw error;
  }
}

/** @throws RefusedError `INVITATION_NOT_PENDING` once the token of the first try was used */
async function issue(
  { apiTokens, now }: AcceptContext,
  { record: { workspaceId, role }, exchanged }: Acceptance,
  { member, user }: { member: RosterMember; user: User },
): Promise<IssuedToken> {
  const { record, token } = await apiTokens.createExchanged(
    {
      workspaceId,
      // Named after the membership: a person has one of them in a workspace.
      name: member.id,
      subject: 'user',
      userId: user.id,
      membershipId: member.id,
      role,
      createdBy: `user:${user.id}`,
      expiresAt: new Date(now().getTime() + personTokenLifetimeMs).toISOString(),
    },
    exchanged,
  );
  assertUnused(record);
  return { ...presentToken(record, 'active'), token };
}

function assertUnused({ lastUsedAt, rotatedAt, isRevoked }: TokenRecord): void {
  if (lastUsedAt !== undefined || rotatedAt !== undefined || isRevoked) {
    const message = 'The invitation was accepted, and the API token that came of it has been used.';
    throw new RefusedError(refusal('INVITATION_NOT_PENDING', message));
  }
}

async function conclude(
  context: AcceptContext,
  { record: { _id, workspaceId, acceptedAt } }: Acceptance,
  { member, user, apiToken }: { member: RosterMember; user: User; apiToken: IssuedToken | undefined },
): Promise<AcceptedInvitation> {
  const actor = `user:${user.id}`;
  await context.users.noteWorkspace(user.id, workspaceId);
  if (acceptedAt === undefined) {
    const own = await context.records.of(workspaceId);
    await recordMembership(own, { actor, action: 'membership.add', workspaceId, after: member });
    await context.invitations.noteAccepted(_id, actor);
  }
  return { workspaceId, membershipId: member.id, role: member.role, user, ...(apiToken && { apiToken }) };
}
