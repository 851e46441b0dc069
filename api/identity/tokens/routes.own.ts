import { issuedToken, tokenRotate } from '../../../contracts/identity/token';
import { conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import type { TokenRecord } from '../../../stores/identity/token-store';
import { presentToken } from './present';
import type { TokenContext } from './routes';

/** How long the token of a person is accepted after it was made or rotated, in milliseconds: 90 days. */
export const personTokenLifetimeMs = 90 * 86_400_000;

/** The token that a person without a password signs in with. */
export function ownTokenRoutes(routes: Routes, { apiTokens, now }: Pick<TokenContext, 'apiTokens' | 'now'>): void {
  routes.add(
    {
      method: 'post',
      path: '/identity/profile/api-token/rotate',
      operationId: 'rotateOwnApiToken',
      idempotency: 'none',
      summary: 'Replace the API token that the caller, a person, presents; it expires in 90 days',
      tag: 'identity',
      permission: 'workspace:read',
      ownAccount: true,
      body: tokenRotate,
      response: issuedToken,
      errors: [409],
      audit: ({ body }, answer) => ({ action: 'api-token.rotate', resource: answer.id, details: body }),
    },
    async ({ auth, body }) => {
      const record = await presented(auth);
      if (auth.isFormerSecret) {
        throw conflict('It was rotated already. Use the new token.', { tokenId: record._id }, 'TOKEN_NOT_ACTIVE');
      }
      const expiresAt = new Date(now().getTime() + personTokenLifetimeMs).toISOString();
      const rotated = await apiTokens.rotate(record, { graceMs: body.gracePeriodMs, expiresAt });
      return { ...presentToken(rotated.record, 'active'), token: rotated.token };
    },
  );

  /** @throws AppError 409 `NO_OWN_TOKEN` */
  async function presented(auth: AuthContext): Promise<TokenRecord> {
    const record = auth.tokenId === undefined ? undefined : await apiTokens.get(auth.workspaceId, auth.tokenId);
    if (record?.subject !== 'user') {
      const message =
        'The caller presents no API token of a person. Administrators rotate those of agents and services.';
      throw conflict(message, { workspaceId: auth.workspaceId }, 'NO_OWN_TOKEN');
    }
    return record;
  }
}
