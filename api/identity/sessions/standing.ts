import { rolePermissions } from '../../../contracts/permissions';
import type { ApiContext } from '../../context';
import type { SessionStanding } from './sessions';

/** What a user may do by its membership of the workspace that its session works in, as both are stored now. */
export const memberStanding =
  ({ users, workspaces }: Pick<ApiContext, 'users' | 'workspaces'>): SessionStanding =>
  async ({ userId, workspaceId }) => {
    const [user, member] = await Promise.all([users.get(userId), workspaces.membership(workspaceId, userId)]);
    if (user?.status !== 'active' || member?.status !== 'active') {
      return undefined;
    }
    return { role: member.role, permissions: rolePermissions[member.role], membershipId: member.id };
  };
