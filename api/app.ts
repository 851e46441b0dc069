import { Router } from '@koa/router';
import Koa from 'koa';
import { accessLog } from '../platform/http/access-log';
import { apiVersion, normalisePath } from '../platform/http/api-version';
import type { RequestState } from '../platform/http/context';
import { cors } from '../platform/http/cors';
import { errorEnvelope } from '../platform/http/error-envelope';
import { rateLimit } from '../platform/http/rate-limit';
import { requestId } from '../platform/http/request-id';
import { createRoutes, type Routes } from '../platform/http/routes';
import { securityHeaders } from '../platform/http/security-headers';
import { requestTimeout } from '../platform/http/timeout';
import { unmatched } from '../platform/http/unmatched';
import { coreAreas } from './areas';
import { originRulesOf } from './authenticator';
import type { ApiContext, Area } from './context';
import type { SwitchableFeature } from '../contracts/settings';
import { translateStoreError } from './store-errors';

/** How long a request may take before its caller is told so, in milliseconds. */
export const requestTimes = { usual: 30_000, upload: 120_000 };

export interface ApiApp {
  app: Koa<RequestState>;
  routes: Routes;
  router: Router<RequestState>;
}

/**
 * Puts the API together: the order of what every request goes through, and the areas with its routes.
 *
 * @param areas areas besides the core ones, e.g. runs: `(routes) => runRoutes(routes, runsContext)`
 */
export function createApp(context: ApiContext, areas: Area[] = []): ApiApp {
  const { env, log } = context;
  const production = env.NODE_ENV === 'production';
  const app = new Koa<RequestState>();
  // One form of each path is served: another letter case is another path.
  const router = new Router<RequestState>({ sensitive: true });
  const routes = createRoutes();
  for (const area of [...coreAreas, ...areas]) area(routes, context);
  routes.install(router, {
    authenticate: context.authenticate,
    authFailures: context.authFailures,
    attemptHandle: context.attemptHandle,
    uploads: context.uploads,
    checkResponses: !production,
    isTurnedOn: async (setting) => (await context.settings.current())[setting as SwitchableFeature],
    audit: context.recordAudit,
    idempotencyKeys: context.idempotencyKeys,
    assertWritable: () => context.database.assertWritable(),
  });

  // An answer whose caller has gone, or a socket that broke while it was written: nobody is left to be told.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection ended early'));
  app.use(requestId());
  app.use(accessLog(log));
  app.use(securityHeaders());
  app.use(errorEnvelope(log, translateStoreError));
  app.use(normalisePath());
  app.use(apiVersion());
  app.use(cors(originRulesOf(env)));
  app.use(
    rateLimit({
      limits: {
        global: env.RATE_LIMIT_GLOBAL,
        read: env.RATE_LIMIT_READ,
        write: env.RATE_LIMIT_WRITE,
        upload: env.RATE_LIMIT_UPLOAD,
      },
      localExempt: !production,
    }),
  );
  app.use(requestTimeout(requestTimes, log));
  app.use(router.routes());
  app.use(unmatched());
  return { app, routes, router };
}
