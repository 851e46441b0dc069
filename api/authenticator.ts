import { rolePermissions } from '../contracts/permissions';
import type { ApiEnvironment } from '../platform/config/part-settings';
import { createIdentifier, type Identify } from '../platform/http/auth/auth';
import type { CredentialVerifier } from '../platform/http/auth/credentials';
import type { OriginRules } from '../platform/http/auth/loopback';

/** Which pages may call: those of the API's own address, and outside production those of this machine as well. */
export const originRulesOf = (env: ApiEnvironment): OriginRules => ({
  allowedOrigins: [...env.BOARD_ALLOWED_ORIGINS, ...(env.BOARD_PUBLIC_URL === undefined ? [] : [env.BOARD_PUBLIC_URL])],
  allowLocalOrigins: env.NODE_ENV !== 'production',
});

/**
 * The permissions of callers, as the environment configures them. The bypass for local callers is never on in production.
 *
 * @param verifiers of the credentials that are kept in the stores
 */
export const identifierOf = (env: ApiEnvironment, verifiers: readonly CredentialVerifier[]): Identify =>
  createIdentifier({
    enabled: env.BOARD_AUTH_ENABLED,
    adminKey: env.BOARD_ADMIN_KEY,
    apiKeys: env.BOARD_API_KEYS,
    origins: originRulesOf(env),
    localRole:
      env.BOARD_AUTH_LOCALHOST_BYPASS && env.NODE_ENV !== 'production' ? env.BOARD_AUTH_LOCALHOST_ROLE : undefined,
    rolePermissions,
    verifiers,
  });
