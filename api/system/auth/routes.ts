import { z } from 'zod';
import { role } from '../../../contracts/permissions';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';

const tag = 'auth';

const authStatus = z
  .object({
    needsSetup: z.boolean(),
    authenticated: z.boolean(),
    sessionExpiry: z.string().nullable(),
    authEnabled: z.boolean(),
    role: role.nullable(),
  })
  .meta({ id: 'AuthStatus' });

const authContext = z
  .object({
    role,
    userId: z.string(),
    workspaceId: z.string(),
    actorType: z.string(),
    authMethod: z.string(),
    tokenName: z.string(),
    permissions: z.array(z.string()).readonly(),
    actor: z.string(),
  })
  .meta({ id: 'AuthContext' });

/** Who am I, and what may I do. */
export function authRoutes(routes: Routes, { env }: ApiContext): void {
  routes.add(
    {
      method: 'get',
      path: '/auth/status',
      operationId: 'getAuthStatus',
      summary: 'Read whether the caller is authenticated and its role',
      tag,
      permission: 'public',
      response: authStatus,
    },
    async ({ auth }) => {
      const authenticated = auth.authMethod !== 'none';
      return {
        needsSetup: false,
        authenticated,
        sessionExpiry: null,
        authEnabled: env.BOARD_AUTH_ENABLED,
        role: authenticated ? auth.role : null,
      };
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/auth/context',
      operationId: 'getAuthContext',
      summary: 'Read the role, permissions and identity of the caller',
      tag,
      permission: 'workspace:read',
      response: authContext,
    },
    async ({ auth }) => auth,
  );
}
