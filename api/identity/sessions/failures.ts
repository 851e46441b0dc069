import type { ApiEnvironment } from '../../../platform/config/part-settings';
import { type AuthFailures, createAuthFailures } from '../../../platform/http/auth/auth-failures';
import { callerAddressBehind } from '../../../platform/http/limits/caller-address';
import type { Log } from '../../../platform/log/log';
import type { AuditStore } from '../../../stores/system/audit-store';

/** Failed authentications of this replica: counted by address, and in the audit log once a minute and address. */
export const auditedAuthFailures = (env: ApiEnvironment, audit: AuditStore, log: Log): AuthFailures =>
  createAuthFailures({
    limit: env.RATE_LIMIT_AUTH_FAILURES,
    addressOf: callerAddressBehind(env.BOARD_TRUSTED_PROXIES),
    report: ({ address, via, presented }) => {
      const details = { via, reason: presented ? 'wrong key' : 'no key' };
      log.warn({ address, ...details }, 'authentication failed');
      // The caller's refusal does not wait for it, nor depend on the store.
      audit
        .record({ action: 'auth.failed', actor: 'user:anonymous', resource: address, details })
        .catch((err: unknown) => log.error({ err }, 'authentication failure audit failed'));
    },
  });
