import { z } from 'zod';
import type { User } from '../../../contracts/identity/user';
import {
  type Member,
  member,
  memberParams,
  memberPatch,
  memberQuery,
  workspaceParams,
} from '../../../contracts/identity/workspace';
import { rolePermissions } from '../../../contracts/permissions';
import type { RosterMember } from '../../../domain/identity/roster';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { assertMayGrant, workspaceOf } from '../caller';
import { recordMembership } from '../membership-record';

const tag = 'identity';
const path = '/identity/workspaces/:workspaceId/members';

/** Who is in a workspace, and as what. */
export function memberRoutes(
  routes: Routes,
  context: Pick<ApiContext, 'users' | 'workspaces' | 'recordAudit' | 'activity'>,
): void {
  const { users, workspaces } = context;

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'listMembers',
      summary: 'List the members of a workspace, those who joined first first',
      tag,
      permission: 'workspace:read',
      params: workspaceParams,
      query: memberQuery,
      response: z.array(member),
      errors: [409],
    },
    async ({ auth, params, query }) => {
      const { members } = await workspaceOf(context, auth, params.workspaceId);
      const listed = members.filter(({ status }) => status === query.status);
      const page = slicePage(listed, query, { positionOf: ({ joinedAt, id }) => ({ key: joinedAt, id }) });
      const people = await users.named(page.items.map(({ userId }) => userId));
      const withEmail = auth.permissions.includes('admin:manage');
      return page.map((one) => present(one, people.get(one.userId), withEmail));
    },
  );

  routes.add(
    {
      method: 'patch',
      path: `${path}/:memberId`,
      operationId: 'updateMember',
      summary: 'Change the role of a member, or suspend it',
      tag,
      permission: 'admin:manage',
      params: memberParams,
      body: memberPatch,
      response: member,
      errors: [409],
    },
    async ({ auth, params: { workspaceId, memberId }, body }) => {
      const { members } = await workspaceOf(context, auth, workspaceId);
      const current = members.find(({ id }) => id === memberId);
      assertFound(current, 'member', memberId);
      // Taking back a suspension gives the role again.
      if (body.role !== undefined || body.status === 'active') {
        assertMayGrant(auth, rolePermissions[body.role ?? current.role]);
      }
      const change = await workspaces.changeMember(workspaceId, memberId, compact(body));
      await recordMembership(context, { actor: auth.actor, action: 'membership.update', workspaceId, ...change });
      const after = change.after ?? change.before;
      return present(after, await users.get(after.userId), true);
    },
  );

  routes.add(
    {
      method: 'delete',
      path: `${path}/:memberId`,
      operationId: 'removeMember',
      summary: 'Remove a member from a workspace',
      tag,
      permission: 'admin:manage',
      params: memberParams,
      response: z.undefined(),
      status: 204,
      errors: [409],
    },
    async ({ auth, params: { workspaceId, memberId } }) => {
      await workspaceOf(context, auth, workspaceId);
      const change = await workspaces.removeMember(workspaceId, memberId);
      await recordMembership(context, { actor: auth.actor, action: 'membership.remove', workspaceId, ...change });
      return undefined;
    },
  );
}

function present(
  { id, userId, role, status, joinedAt }: RosterMember,
  user: User | undefined,
  withEmail: boolean,
): Member {
  const email = withEmail ? user?.email : undefined;
  return { id, userId, displayName: user?.displayName ?? userId, ...compact({ email }), role, status, joinedAt };
}
