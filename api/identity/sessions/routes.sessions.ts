import { z } from 'zod';
import {
  rotateSecretBody,
  rotationStatus,
  type Session,
  session,
  sessionId,
  sessionQuery,
} from '../../../contracts/identity/session';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { Page } from '../../../platform/lists/page';
import { maxFormerSecrets, type SessionSecrets } from '../../../stores/identity/sessions/session-secret-store';
import type { SessionRecord } from '../../../stores/identity/sessions/session-store';
import type { ApiContext } from '../../context';
import { assertOfInstallation } from './sessions';

const tag = 'auth';
const dayMs = 86_400_000;
/** How long a replaced secret stays valid. */
const grace = { usualMs: 7 * dayMs, longestMs: 30 * dayMs };

function present(record: SessionRecord, current: string | undefined): Session {
  const { _id: id, method, workspaceId, role, createdAt, lastUsedAt, expiresAt, address, userAgent } = record;
  const fields = { id, method, workspaceId, role, createdAt, lastUsedAt, expiresAt, current: id === current };
  return { ...fields, ...compact({ address, userAgent }) };
}

/** Whether the sessions of the caller's user are its own: a program with a key is no user, though it may have the name of one. */
const hasSessions = ({ authMethod, permissions }: AuthContext): boolean =>
  authMethod === 'session' || permissions.includes('admin:manage');

const statusOf = ({ current, former, rotatedAt }: SessionSecrets) => ({
  createdAt: current.createdAt,
  rotatedAt: rotatedAt ?? null,
  former: former.map(({ createdAt, validUntil }) => ({ createdAt, validUntil })),
});

/** The caller's sessions, and the secret that all of them are signed with. */
export function sessionRoutes(routes: Routes, context: ApiContext): void {
  const { sessions, sessionSecrets, sessionTokens } = context;

  routes.add(
    {
      method: 'get',
      path: '/auth/sessions',
      operationId: 'listSessions',
      summary: 'List the open sessions of the caller’s user, newest first',
      tag,
      permission: 'workspace:read',
      query: sessionQuery,
      response: z.array(session),
    },
    async ({ query, auth }) => {
      if (!hasSessions(auth)) {
        return new Page<Session>([], undefined);
      }
      return (await sessions.list(auth.userId, query)).map((record) => present(record, auth.sessionId));
    },
  );

  routes.add(
    {
      method: 'delete',
      path: '/auth/sessions/:sessionId',
      operationId: 'revokeSession',
      summary: 'Revoke a session of the caller’s user',
      tag,
      permission: 'workspace:read',
      ownAccount: true,
      params: z.strictObject({ sessionId }),
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'auth.session-revoke', resource: params.sessionId }),
    },
    async ({ params, auth }) => {
      const ended = hasSessions(auth) && (await sessions.end(auth.userId, params.sessionId));
      assertFound(ended || undefined, 'session', params.sessionId);
      return undefined;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/auth/rotate-secret',
      operationId: 'rotateSessionSecret',
      summary: 'Sign sessions with a new secret; those of the former one stay valid for a while',
      tag,
      permission: 'admin:manage',
      idempotency: 'none',
      body: rotateSecretBody,
      response: rotationStatus,
      errors: [409],
      audit: ({ body }) => ({ action: 'auth.secret-rotate', details: body }),
    },
    async ({ body: { gracePeriodMs = grace.usualMs }, auth }) => {
      assertOfInstallation(auth);
      if (!Number.isInteger(gracePeriodMs) || gracePeriodMs < 0 || gracePeriodMs > grace.longestMs) {
        const message = `gracePeriodMs is a whole number from 0 to ${grace.longestMs}.`;
        throw new AppError('INVALID_GRACE_PERIOD', { status: 400, message });
      }
      const rotated = await sessionSecrets.rotate(gracePeriodMs);
      sessionTokens.forget();
      if (!rotated) {
        const message = `${maxFormerSecrets} former secrets are still valid. Wait until one is not.`;
        throw conflict(message, {}, 'ROTATION_NOT_AVAILABLE');
      }
      return statusOf(rotated);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/auth/rotation-status',
      operationId: 'getRotationStatus',
      summary: 'Read when the secret of sessions was replaced, and which former ones are still valid',
      tag,
      permission: 'admin:manage',
      response: rotationStatus,
    },
    async ({ auth }) => {
      assertOfInstallation(auth);
      return statusOf(await sessionSecrets.read());
    },
  );
}
