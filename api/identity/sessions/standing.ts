import { localWorkspace } from '../../../contracts/common';
import { rolePermissions } from '../../../contracts/permissions';
import { authorityOf } from '../../../domain/identity/grants';
import type { ApiContext } from '../../context';
import type { SessionStanding, Standing } from './sessions';

type StandingStores = Pick<ApiContext, 'oidc' | 'users' | 'workspaces'>;

/** Of a person whose role may start agents: the same as a key of that role. */
const runCapabilities = ['agent:run:unrestricted'] as const;

/** What a user may do by its membership of the workspace that its session works in, as both are stored now. */
const memberStanding =
  ({ users, workspaces }: StandingStores): SessionStanding =>
  async ({ userId, workspaceId }) => {
    const [user, member] = await Promise.all([users.get(userId), workspaces.membership(workspaceId, userId)]);
    if (user?.status !== 'active' || member?.status !== 'active') {
      return undefined;
    }
    return { role: member.role, permissions: rolePermissions[member.role], membershipId: member.id };
  };

/**
 * What the user of a session may do now. One who has signed in with a provider has no more in `local` than the provider gave at
 * the last sign-in, and nothing anywhere once it gave nothing.
 */
export function sessionStanding(stores: StandingStores): SessionStanding {
  const standingOf = memberStanding(stores);
  return async (session) => {
    if (session.method !== 'oidc') {
      return standingOf(session);
    }
    const [member, identity] = await Promise.all([standingOf(session), stores.oidc.ofUser(session.userId)]);
    const granted = identity?.role;
    if (!member || !granted) {
      return undefined;
    }
    const role = session.workspaceId === localWorkspace ? granted : member.role;
    const authority: Standing = { ...member, ...authorityOf({ role, memberRole: member.role }) };
    return authority.permissions.includes('agent:write') ? { ...authority, capabilities: runCapabilities } : authority;
  };
}
