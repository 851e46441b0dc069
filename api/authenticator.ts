import { rolePermissions } from '../contracts/permissions';
import type { ApiEnvironment } from '../platform/config/part-settings';
import { createAuthenticator, type Authenticate } from '../platform/http/auth';
import type { OriginRules } from '../platform/http/loopback';

/** Which pages may call: those of this machine as well, outside production. */
export const originRulesOf = (env: ApiEnvironment): OriginRules => ({
  allowedOrigins: env.BOARD_ALLOWED_ORIGINS,
  allowLocalOrigins: env.NODE_ENV !== 'production',
});

/** Who may do what, as the environment says. The bypass for local callers is never on in production. */
export const authenticatorOf = (env: ApiEnvironment): Authenticate =>
  createAuthenticator({
    enabled: env.BOARD_AUTH_ENABLED,
    adminKey: env.BOARD_ADMIN_KEY,
    apiKeys: env.BOARD_API_KEYS,
    origins: originRulesOf(env),
    localRole:
      env.BOARD_AUTH_LOCALHOST_BYPASS && env.NODE_ENV !== 'production' ? env.BOARD_AUTH_LOCALHOST_ROLE : undefined,
    rolePermissions,
  });
