import { z } from 'zod';
import {
  localUser,
  type OwnMembership,
  profile,
  profilePatch,
  user,
  userId,
  userPatch,
  userQuery,
} from '../../../contracts/identity/user';
import { memberOf } from '../../../domain/identity/roster';
import { assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { plainField } from '../../tasks/tasks/plain-text';
import { assertInstallationAdmin, assertPerson, canSwitch, isInstallationAdmin } from '../caller';

const tag = 'identity';

type UserContext = Pick<ApiContext, 'users' | 'workspaces'>;

/** Who the caller is, and the people of the installation. */
export function userRoutes(routes: Routes, context: UserContext): void {
  const { users } = context;

  routes.add(
    {
      method: 'get',
      path: '/identity/profile',
      operationId: 'getOwnProfile',
      summary: 'Read the user behind the credential and its memberships',
      tag,
      permission: 'workspace:read',
      response: profile,
    },
    async ({ auth }) => profileOf(context, auth),
  );

  routes.add(
    {
      method: 'patch',
      path: '/identity/profile',
      operationId: 'updateOwnProfile',
      summary: 'Change the display name of the caller',
      tag,
      permission: 'workspace:read',
      ownAccount: true,
      body: profilePatch,
      response: profile,
      audit: ({ auth, body }) => ({ action: 'user.update', resource: auth.userId, details: body }),
    },
    async ({ auth, body: { displayName } }) => {
      assertPerson(auth);
      assertFound(await users.rename(auth.userId, plainField(displayName, 'displayName')), 'user', auth.userId);
      return profileOf(context, auth);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/identity/users',
      operationId: 'listUsers',
      summary: 'List the users of the installation by id',
      tag,
      permission: 'admin:manage',
      query: userQuery,
      response: z.array(user),
    },
    async ({ auth, query }) => {
      assertInstallationAdmin(auth);
      return users.list(query);
    },
  );

  routes.add(
    {
      method: 'patch',
      path: '/identity/users/:userId',
      operationId: 'updateUser',
      summary: 'Change whether the credentials of a user are accepted',
      tag,
      permission: 'admin:manage',
      params: z.strictObject({ userId }),
      body: userPatch,
      response: user,
      errors: [409],
      audit: ({ params, body }) => ({ action: 'user.update', resource: params.userId, details: body }),
    },
    async ({ auth, params, body: { status } }) => {
      assertInstallationAdmin(auth);
      if (params.userId === localUser && status === 'disabled') {
        const message = 'The owner of the installation cannot be disabled: its keys are configured, not stored.';
        throw conflict(message, { userId: params.userId }, 'LOCAL_USER');
      }
      const changed = await users.setStatus(params.userId, status);
      assertFound(changed, 'user', params.userId);
      return changed;
    },
  );
}

async function profileOf(context: UserContext, auth: AuthContext): Promise<z.infer<typeof profile>> {
  const found = await context.users.get(auth.userId);
  assertFound(found, 'user', auth.userId);
  return {
    user: found,
    workspaceId: auth.workspaceId,
    role: auth.role,
    memberships: await membershipsOf(context, auth),
  };
}

/** The memberships that the credential is good for: all of a person's session, that of its workspace of any other. */
async function membershipsOf({ users, workspaces }: UserContext, auth: AuthContext): Promise<OwnMembership[]> {
  const all = canSwitch(auth) || isInstallationAdmin(auth);
  const ids = all ? await users.workspacesOf(auth.userId) : [auth.workspaceId];
  const records = await Promise.all(ids.map((id) => workspaces.get(id)));
  return records.flatMap((record) => {
    const member = record && memberOf(record, auth.userId);
    return member
      ? [
          {
            membershipId: member.id,
            workspaceId: record.id,
            workspaceName: record.name,
            role: member.role,
            status: member.status,
            joinedAt: member.joinedAt,
          },
        ]
      : [];
  });
}
