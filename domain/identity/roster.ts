import type { Role } from '../../contracts/permissions';
import { refusal, RefusedError } from '../refusal';

/** A member as a workspace stores it. */
export interface RosterMember {
  id: string;
  userId: string;
  role: Role;
  status: 'active' | 'suspended';
  joinedAt: string;
  /** The invitation that was accepted. */
  invitationId?: string;
}

/** An invitation that can be accepted. */
export interface OpenInvitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
  /** The administrator who offered it, as long as it is one; absent for one of the installation. */
  invitedBy?: string;
}

/** Who is in a workspace and who may join it: one record, so that each rule about all of them holds at every moment. */
export interface Roster {
  members: RosterMember[];
  invitations: OpenInvitation[];
}

export const rosterLimits = { members: 200, invitations: 100 };

const refuse = (code: string, message: string, details: Record<string, unknown> = {}): never => {
  throw new RefusedError(refusal(code, message, details));
};

const isAdmin = ({ role, status }: RosterMember): boolean => role === 'admin' && status === 'active';

/**
 * The roster after a change of its members, without the invitations of those who are administrators no more.
 *
 * @throws RefusedError `LAST_ADMIN` when a workspace that had an administrator has none then
 */
function administered<T extends Roster>(before: T, members: RosterMember[]): T {
  const admins = members.filter(isAdmin).map(({ id }) => id);
  if (before.members.some(isAdmin) && admins.length === 0) {
    refuse('LAST_ADMIN', 'The workspace would have no active administrator. Make another member one first.');
  }
  const invitations = before.invitations.filter(
    ({ invitedBy }) => invitedBy === undefined || admins.includes(invitedBy),
  );
  return { ...before, members, invitations };
}

export const memberOf = ({ members }: Roster, userId: string): RosterMember | undefined =>
  members.find((one) => one.userId === userId);

/** @throws RefusedError `ALREADY_MEMBER`, `IDENTITY_LIMIT_REACHED` */
export function withMember<T extends Roster>(roster: T, joining: RosterMember): T {
  const present = memberOf(roster, joining.userId);
  if (present) {
    refuse('ALREADY_MEMBER', 'The user is a member of the workspace already.', { membershipId: present.id });
  }
  if (roster.members.length >= rosterLimits.members) {
    refuse('IDENTITY_LIMIT_REACHED', `A workspace has ${rosterLimits.members} members at most.`, {
      limit: rosterLimits.members,
      of: 'members',
    });
  }
  return { ...roster, members: [...roster.members, joining] };
}

const notFound = (resource: string, id: string): never =>
  refuse('NOT_FOUND', `No ${resource} has the id ${JSON.stringify(id)}.`, { resource, id });

/** @throws RefusedError `NOT_FOUND`, `LAST_ADMIN` */
export function withChangedMember<T extends Roster>(
  roster: T,
  id: string,
  change: Partial<Pick<RosterMember, 'role' | 'status'>>,
): T {
  if (!roster.members.some((one) => one.id === id)) {
    notFound('member', id);
  }
  const members = roster.members.map((one) => (one.id === id ? { ...one, ...change } : one));
  return administered(roster, members);
}

/** @throws RefusedError `NOT_FOUND`, `LAST_ADMIN` */
export function withoutMember<T extends Roster>(roster: T, id: string): T {
  const members = roster.members.filter((one) => one.id !== id);
  if (members.length === roster.members.length) {
    notFound('member', id);
  }
  return administered(roster, members);
}

const openAt = <T extends Roster>(roster: T, at: Date): T => ({
  ...roster,
  invitations: roster.invitations.filter(({ expiresAt }) => Date.parse(expiresAt) > at.getTime()),
});

/** @throws RefusedError `INVITATION_PENDING`, `IDENTITY_LIMIT_REACHED` */
export function withInvitation<T extends Roster>(roster: T, offered: OpenInvitation, at: Date): T {
  const open = openAt(roster, at);
  const present = open.invitations.find(({ email }) => email === offered.email);
  if (present) {
    refuse('INVITATION_PENDING', 'An invitation for this address is pending.', { invitationId: present.id });
  }
  if (open.invitations.length >= rosterLimits.invitations) {
    refuse('IDENTITY_LIMIT_REACHED', `A workspace has ${rosterLimits.invitations} pending invitations at most.`, {
      limit: rosterLimits.invitations,
      of: 'invitations',
    });
  }
  return { ...open, invitations: [...open.invitations, offered] };
}

/** @throws RefusedError `INVITATION_NOT_PENDING` */
export function withoutInvitation<T extends Roster>(roster: T, id: string, at: Date): T {
  const open = openAt(roster, at);
  if (!open.invitations.some((one) => one.id === id)) {
    refuse('INVITATION_NOT_PENDING', 'The invitation is not pending any more.', { invitationId: id });
  }
  return { ...open, invitations: open.invitations.filter((one) => one.id !== id) };
}

/**
 * Accepts an invitation: it is used and its user is a member, both in one change.
 *
 * @throws RefusedError `INVITATION_NOT_PENDING`, `ALREADY_MEMBER`, `IDENTITY_LIMIT_REACHED`
 */
export function withAccepted<T extends Roster>(
  roster: T,
  invitationId: string,
  { joining, at }: { joining: Pick<RosterMember, 'id' | 'userId'>; at: Date },
): T {
  const offered = roster.invitations.find(({ id }) => id === invitationId);
  const rest = withoutInvitation(roster, invitationId, at);
  return withMember(rest, {
    ...joining,
    role: offered?.role ?? 'read-only',
    status: 'active',
    joinedAt: at.toISOString(),
    invitationId,
  });
}
