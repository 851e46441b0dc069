import { z } from 'zod';
import {
  type ApiToken,
  apiToken,
  type CredentialState,
  issuedToken,
  tokenCreate,
  tokenParams,
  tokenQuery,
  tokenRotate,
} from '../../../contracts/identity/token';
import { workspaceParams } from '../../../contracts/identity/workspace';
import { type Permission, type Role, rolePermissions } from '../../../contracts/permissions';
import { approvedPermissions } from '../../../domain/identity/grants';
import { AppError, assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { assertMayRunAgents, isLocalAgentClient } from '../../../platform/http/auth/local-agent';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import type { TokenRecord } from '../../../stores/identity/token-store';
import type { WorkspaceRecord } from '../../../stores/identity/workspace-store';
import type { ApiContext } from '../../context';
import { assertMayGrant, ownMembershipIn, workspaceOf } from '../caller';
import { statesOf } from '../credential-state';
import { presentToken } from './present';
import { ownTokenRoutes } from './routes.own';

const tag = 'identity';
const path = '/identity/workspaces/:workspaceId/api-tokens';
const permission = 'admin:manage';

export type TokenContext = Pick<ApiContext, 'apiTokens' | 'users' | 'workspaces' | 'env' | 'now'>;

/** Keys of agents, services and people for one workspace, made and revoked without a restart. */
export function tokenRoutes(routes: Routes, context: TokenContext): void {
  const { apiTokens, env, now } = context;

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'listApiTokens',
      summary: 'List the API tokens of a workspace, newest first',
      tag,
      permission,
      params: workspaceParams,
      query: tokenQuery,
      response: z.array(apiToken),
      errors: [409],
    },
    async ({ auth, params, query }) => {
      const workspace = await workspaceOf(context, auth, params.workspaceId);
      const page = await apiTokens.list(workspace.id, query);
      const states = await statesOf(context, workspace, { credentials: page.items, at: now() });
      return page.map((record) => presentToken(record, states.get(record._id) ?? 'orphaned'));
    },
  );

  routes.add(
    {
      method: 'post',
      path,
      operationId: 'createApiToken',
      // A secret is returned once and stored nowhere: a repetition makes another one.
      idempotency: 'none',
      summary: 'Create an API token; it is shown once',
      tag,
      permission,
      params: workspaceParams,
      body: tokenCreate,
      response: issuedToken,
      status: 201,
      errors: [409],
      audit: (_request, answer) => ({ action: 'api-token.create', resource: answer.id, details: grantOf(answer) }),
    },
    async ({ auth, params, body }, ctx) => {
      const workspace = await workspaceOf(context, auth, params.workspaceId);
      assertMayGive(compact(body), auth, ctx);
      assertScopesOf(body.role, body.scopes);
      assertMayGrant(auth, approvedPermissions(body.role, body.scopes));
      assertInFuture(body.expiresAt, now());
      assertNotConfigured(body.name, env);
      const { id: membershipId, userId } = ownMembershipIn(workspace, auth);
      const { record, token } = await apiTokens.create({
        ...compact(body),
        workspaceId: workspace.id,
        userId,
        membershipId,
        subject: body.role === 'agent' ? 'agent' : 'service',
        createdBy: auth.actor,
      });
      return { ...presentToken(record, 'active'), token };
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/:tokenId/rotate`,
      operationId: 'rotateApiToken',
      idempotency: 'none',
      summary: 'Replace the secret of an API token; the former one is accepted until a grace period ends',
      tag,
      permission,
      params: tokenParams,
      body: tokenRotate,
      response: issuedToken,
      errors: [409],
      audit: ({ params, body }) => ({ action: 'api-token.rotate', resource: params.tokenId, details: body }),
    },
    async ({ auth, params, body }, ctx) => {
      const { workspace, record } = await tokenOf(params, auth);
      assertMayGive(record, auth, ctx);
      assertNotOfAnotherPerson(record, auth);
      assertMayGrant(auth, approvedPermissions(record.role, record.scopes));
      await assertActive(workspace, record);
      const rotated = await apiTokens.rotate(record, { graceMs: body.gracePeriodMs });
      return { ...presentToken(rotated.record, 'active'), token: rotated.token };
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/:tokenId/revoke`,
      operationId: 'revokeApiToken',
      summary: 'Revoke an API token at once',
      tag,
      permission,
      params: tokenParams,
      response: apiToken,
      errors: [409],
      audit: ({ params }) => ({ action: 'api-token.revoke', resource: params.tokenId }),
    },
    async ({ auth, params }) => {
      const { record } = await tokenOf(params, auth);
      const revoked = await apiTokens.revoke(record, auth.actor);
      assertFound(revoked, 'API token', params.tokenId);
      return presentToken(revoked, 'revoked');
    },
  );

  ownTokenRoutes(routes, context);

  async function tokenOf(
    { workspaceId, tokenId }: z.output<typeof tokenParams>,
    auth: AuthContext,
  ): Promise<{ workspace: WorkspaceRecord; record: TokenRecord }> {
    const workspace = await workspaceOf(context, auth, workspaceId);
    const record = await apiTokens.get(workspaceId, tokenId);
    assertFound(record, 'API token', tokenId);
    return { workspace, record };
  }

  /** @throws AppError 409 `TOKEN_NOT_ACTIVE` */
  async function assertActive(workspace: WorkspaceRecord, record: TokenRecord): Promise<void> {
    const state: CredentialState | undefined = (
      await statesOf(context, workspace, { credentials: [record], at: now() })
    ).get(record._id);
    if (state !== 'active') {
      const message = `The API token is ${state}. Create another one.`;
      throw conflict(message, { tokenId: record._id, workspaceId: workspace.id, state }, 'TOKEN_NOT_ACTIVE');
    }
  }
}

const grantOf = ({ workspaceId, name, role, scopes, capabilities, expiresAt }: ApiToken) =>
  compact({ workspaceId, name, role, scopes, capabilities, expiresAt });

/** @throws AppError 400 for scopes that the role does not have */
export function assertScopesOf(role: Role, scopes: readonly Permission[] = []): void {
  const issues = scopes.flatMap((scope, index) =>
    rolePermissions[role].includes(scope)
      ? []
      : [{ path: `scopes.${index}`, message: `is no permission of the role ${role}` }],
  );
  if (issues.length > 0) {
    throw validationError(issues);
  }
}

/** No caller gives others what lets them run agents, unless it may run them itself. @throws AppError 403 */
function assertMayGive(client: Pick<ApiToken, 'capabilities'>, auth: AuthContext, { req }: HttpContext): void {
  if (isLocalAgentClient(compact({ capabilities: client.capabilities }))) {
    assertMayRunAgents(auth, { headers: req.headers, connection: req.socket });
  }
}

/** @throws AppError 400 */
function assertInFuture(expiresAt: string | undefined, now: Date): void {
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime()) {
    throw validationError([{ path: 'expiresAt', message: 'must be in the future' }]);
  }
}

/** Two credentials of one name would be one actor. @throws AppError 409 `NAME_TAKEN` */
function assertNotConfigured(name: string, { BOARD_API_KEYS }: Pick<ApiContext['env'], 'BOARD_API_KEYS'>): void {
  const configured = ['admin', ...BOARD_API_KEYS.map((key) => key.name)].map((one) => one.toLowerCase());
  if (configured.includes(name.toLowerCase())) {
    throw conflict(`A key of the configuration has the name ${name}. Choose another one.`, { name }, 'NAME_TAKEN');
  }
}

/** The token of a person proves that person: its secret is for no other. @throws AppError 403 */
function assertNotOfAnotherPerson({ subject, userId }: TokenRecord, auth: AuthContext): void {
  if (subject === 'user' && !(auth.actorType === 'user' && auth.userId === userId)) {
    throw new AppError('FORBIDDEN', {
      status: 403,
      message: 'The token of a person is rotated by that person, with POST /api/identity/profile/api-token/rotate.',
      details: { required: [permission], subject },
    });
  }
}
