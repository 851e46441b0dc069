import { authContext, authStatus, wsTicket } from '../../../contracts/identity/session';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { authenticated } from '../../../platform/http/auth/authorize';
import { presentedCredentials } from '../../../platform/http/auth/credentials';
import { callerAddressBehind } from '../../../platform/http/limits/caller-address';
import { routeLimit } from '../../../platform/http/limits/rate-limit';
import { addressKey } from '../../../platform/http/limits/rate-limit';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { ApiContext } from '../../context';
import { workspaceHeader } from '../../workspace-header';
import { owner, passwordRoutes } from './routes.password';
import { sessionRoutes } from './routes.sessions';
import { ticketMs, ticketText } from './ws-tickets';

const tag = 'auth';
/** Reads of the status, a minute and address. */
const statusLimit = 120;

/** What of the context of a caller is its own to know: nothing of how the service found it out. */
const ownContext = ({ attemptId: _attempt, carrier: _carrier, ...known }: AuthContext) => known;

/** Signing in and out, and who the caller is (specification 1, Auth and identity). */
export function authRoutes(routes: Routes, context: ApiContext): void {
  const { env, passwords, sessions, wsTickets } = context;
  const addressOf = callerAddressBehind(env.BOARD_TRUSTED_PROXIES);
  const limitStatus = routeLimit(env.RATE_LIMIT_AUTH === 0 ? 0 : statusLimit);
  passwordRoutes(routes, context);
  sessionRoutes(routes, context);

  routes.add(
    {
      method: 'get',
      path: '/auth/status',
      operationId: 'getAuthStatus',
      summary: 'Read whether the caller is authenticated and its role',
      tag,
      permission: 'public',
      response: authStatus,
      errors: [429],
    },
    async ({ auth }, ctx) => {
      limitStatus(ctx, addressKey(addressOf(ctx.req)));
      const isAuthenticated = auth.authMethod !== 'none';
      const session = auth.sessionId === undefined ? undefined : await sessions.get(auth.sessionId);
      return {
        needsSetup: env.BOARD_AUTH_ENABLED && (await passwords.get(owner)) === undefined,
        authenticated: isAuthenticated,
        sessionExpiry: session?.expiresAt ?? null,
        authEnabled: env.BOARD_AUTH_ENABLED,
        oidc: env.BOARD_OIDC_ISSUER !== undefined,
        role: isAuthenticated ? auth.role : null,
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
      // A caller learns here what it may do, whatever that is.
      permission: authenticated,
      response: authContext,
    },
    async ({ auth }) => ownContext(auth),
  );

  routes.add(
    {
      method: 'post',
      path: '/auth/ws-ticket',
      operationId: 'createWsTicket',
      summary: 'Create a ticket that opens one WebSocket as the caller, for clients that can send no header there',
      tag,
      permission: 'task:read',
      // What the WebSocket may read is permitted there: a caller that may only read gets a ticket too.
      relays: true,
      idempotency: 'none',
      response: wsTicket,
    },
    async ({ auth, header }, ctx) => {
      const workspaceId = header(workspaceHeader) === undefined ? undefined : auth.workspaceId;
      const text = ticketText({ credentials: presentedCredentials(ctx.req.headers), ...compact({ workspaceId }) });
      const ticket = await wsTickets.issue(text, ticketMs);
      return { ticket, expiresIn: ticketMs / 1_000 };
    },
  );
}
