import Koa from 'koa';
import type { PartEnvironment } from '../../platform/config/part-settings';
import { accessLog } from '../../platform/http/access-log';
import { createAuthFailures } from '../../platform/http/auth/auth-failures';
import { securityHeaders } from '../../platform/http/auth/security-headers';
import type { RequestState } from '../../platform/http/context';
import { callerAddressBehind } from '../../platform/http/limits/caller-address';
import type { IdempotencyKeys } from '../../platform/http/limits/idempotency';
import { requestId } from '../../platform/http/request-id';
import { requestSpan } from '../../platform/http/request-span';
import { narrowedRouter } from '../../platform/http/routing/narrowed-router';
import { createRoutes, type Routes } from '../../platform/http/routing/routes';
import { unmatched } from '../../platform/http/routing/unmatched';
import type { Log } from '../../platform/log/log';
import { discoveryRoutes } from './discovery/routes';
import { createJwtAuthenticator } from './http/auth';
import { errorsAsDocument } from './http/errors';
import { linkNextPage } from './http/pages';
import { withoutToken } from './webhooks/webhook-token';

export interface WorkflowRunsApp {
  app: Koa<RequestState>;
  routes: Routes;
}

interface AppOptions {
  env: PartEnvironment<'workflow-runs'>;
  log: Log;
  idempotencyKeys: IdempotencyKeys;
}

/** Puts the API of the service together: what every request goes through, and its areas. */
export function createWorkflowRunsApp(
  { env, log, idempotencyKeys }: AppOptions,
  areas: readonly ((routes: Routes) => void)[],
): WorkflowRunsApp {
  const app = new Koa<RequestState>();
  const router = narrowedRouter<RequestState>();
  const routes = createRoutes();
  discoveryRoutes(routes);
  for (const area of areas) {
    area(routes);
  }
  routes.install(router, {
    authenticate: createJwtAuthenticator({
      publicKey: env.WORKFLOW_RUNS_JWT_PUBLIC_KEY,
      issuer: env.WORKFLOW_RUNS_JWT_ISSUER,
      users: env.WORKFLOW_RUNS_USERS,
    }),
    authFailures: createAuthFailures({
      limit: env.RATE_LIMIT_AUTH_FAILURES,
      addressOf: callerAddressBehind(env.BOARD_TRUSTED_PROXIES),
      report: (failure) => log.warn(failure, 'authentication failed'),
    }),
    checkResponses: env.NODE_ENV !== 'production',
    setHeaders: linkNextPage,
    audit: () => Promise.resolve(),
    idempotencyKeys,
  });
  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection ended early'));
  app.use(requestId());
  app.use(requestSpan());
  app.use(accessLog(log, withoutToken));
  app.use(securityHeaders());
  app.use(errorsAsDocument(log));
  app.use(router.routes());
  app.use(unmatched());
  return { app, routes };
}
