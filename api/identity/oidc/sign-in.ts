import { localWorkspace } from '../../../contracts/common';
import type { User } from '../../../contracts/identity/user';
import type { Role } from '../../../contracts/permissions';
import { roleOfGroups } from '../../../domain/identity/group-role';
import type { RosterMember } from '../../../domain/identity/roster';
import { RefusedError } from '../../../domain/refusal';
import { type Claims, displayNameOf, emailOf, groupsOf, isOfDomain } from '../../../platform/oidc/claims';
import type { ProvenIdentity } from '../../../platform/oidc/provider';
import { cut } from '../../../platform/text/cut';
import type { ExternalIdentity } from '../../../stores/identity/oidc-store';
import { newMembershipId } from '../../../stores/identity/workspace-store';
import type { ApiContext } from '../../context';
import { recordMembership } from '../membership-record';
import { refusedPerson } from './refusals';

export type PersonContext = Pick<
  ApiContext,
  'activity' | 'env' | 'log' | 'now' | 'oidc' | 'recordAudit' | 'users' | 'workspaces'
>;

/** Who has signed in, and as what. */
export interface AdmittedPerson {
  userId: string;
  role: Role;
}

const maxName = 100;
const maxEmail = 254;
/** Who changes a membership because of what the provider reports. */
const actor = 'service:oidc';

/** Whether the claims lack something that decides about the person. */
export const lacksClaims = (env: ApiContext['env'], claims: Claims): boolean =>
  (env.BOARD_OIDC_ROLE_GROUPS.length > 0 && groupsOf(claims, env.BOARD_OIDC_GROUPS_CLAIM) === undefined) ||
  emailOf(claims) === undefined;

/** Makes users and members of people whom the provider has proven. */
export function createAdmission(context: PersonContext) {
  const { env, log, now, oidc, users, workspaces } = context;
  const roles = { ordered: env.BOARD_OIDC_ROLE_GROUPS, fallback: env.BOARD_OIDC_DEFAULT_ROLE };

  const membershipOf = (userId: string) => workspaces.membership(localWorkspace, userId);

  /** The user, with the name and the address that the provider has for the person now. */
  async function userOf({ userId, subject }: ExternalIdentity, claims: Claims): Promise<User> {
    const displayName = cut(displayNameOf(claims, subject), maxName);
    const email = emailOf(claims)?.email;
    const fields = { displayName, ...(email !== undefined && email.length <= maxEmail && { email }) };
    const user = await users.create(userId, fields);
    return user.displayName === displayName && user.email === fields.email
      ? user
      : ((await users.describe(userId, fields)) ?? user);
  }

  async function changeMember(
    member: RosterMember,
    change: Partial<Pick<RosterMember, 'role' | 'status'>>,
  ): Promise<void> {
    try {
      const { before, after } = await workspaces.changeMember(localWorkspace, member.id, change);
      await recordMembership(context, {
        actor,
        action: 'membership.update',
        workspaceId: localWorkspace,
        before,
        after,
      });
    } catch (error) {
      if (error instanceof RefusedError && error.refusal.code === 'LAST_ADMIN') {
        // Sessions have the role of the provider all the same; what the member has issued has that of the membership.
        log.warn({ userId: member.userId, ...change }, 'the last administrator remains a member with that role');
        return;
      }
      throw error;
    }
  }

  /** Suspends the member whom the provider gives no role any more: nothing that the person has is accepted from now on. */
  async function withdraw(identity: ExternalIdentity): Promise<void> {
    const member = await membershipOf(identity.userId);
    if (member?.status === 'active') {
      await oidc.setSuspended(identity._id, true);
      await changeMember(member, { status: 'suspended' });
    }
  }

  /** Joins the person, or gives the member the role of the provider. */
  async function admitMember(identity: ExternalIdentity, role: Role): Promise<void> {
    const { userId } = identity;
    const member = await membershipOf(userId);
    if (!member) {
      await joinMember(userId, role);
    } else if (member.status === 'suspended' && !identity.isSuspended) {
      throw refusedPerson('MEMBERSHIP_SUSPENDED', 'An administrator has suspended your membership.');
    } else if (member.status !== 'active' || member.role !== role) {
      await changeMember(member, { status: 'active', role });
    }
    if (identity.isSuspended) {
      await oidc.setSuspended(identity._id, false);
    }
  }

  async function joinMember(userId: string, role: Role): Promise<void> {
    await users.noteWorkspace(userId, localWorkspace);
    const joining: RosterMember = {
      id: newMembershipId(),
      userId,
      role,
      status: 'active',
      joinedAt: now().toISOString(),
    };
    try {
      await workspaces.join(localWorkspace, joining);
    } catch (error) {
      // The same person signs in twice at once.
      if (error instanceof RefusedError && error.refusal.code === 'ALREADY_MEMBER') {
        return;
      }
      throw error;
    }
    await recordMembership(context, { actor, action: 'membership.add', workspaceId: localWorkspace, after: joining });
  }

  /**
   * The user of a person, who is a member with the role of its groups. What the provider gives is recorded first: sessions that
   * are open obey it from then on.
   *
   * @throws AppError 403 for a person who may not enter
   */
  return async function admit({ issuer, subject, claims }: ProvenIdentity): Promise<AdmittedPerson> {
    const isAllowed = isOfDomain(claims, env.BOARD_OIDC_ALLOWED_DOMAINS);
    const role = isAllowed ? roleOfGroups(groupsOf(claims, env.BOARD_OIDC_GROUPS_CLAIM) ?? [], roles) : undefined;
    if (role === undefined) {
      const known = await oidc.find(issuer, subject);
      if (known) {
        await withdraw(await oidc.grant(issuer, subject, null));
      }
      throw isAllowed
        ? refusedPerson('OIDC_NO_ROLE', 'None of your groups has a role here.')
        : refusedPerson('OIDC_DOMAIN', 'Only verified addresses of certain domains may sign in.');
    }
    const identity = await oidc.grant(issuer, subject, role);
    const user = await userOf(identity, claims);
    if (user.status !== 'active') {
      throw refusedPerson('USER_DISABLED', 'An administrator has disabled your user.');
    }
    await admitMember(identity, role);
    return { userId: identity.userId, role };
  };
}
