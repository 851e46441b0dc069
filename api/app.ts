import type { Router } from '@koa/router';
import Koa from 'koa';
import { localWorkspace } from '../contracts/common';
import { compatPrefix } from '../contracts/compat';
import { accessLog } from '../platform/http/access-log';
import { apiVersion, normalisePath } from '../platform/http/api-version';
import { cors } from '../platform/http/auth/cors';
import { securityHeaders } from '../platform/http/auth/security-headers';
import type { HttpMiddleware, RequestState } from '../platform/http/context';
import { errorEnvelope } from '../platform/http/error-envelope';
import { callerAddressBehind } from '../platform/http/limits/caller-address';
import { rateLimit } from '../platform/http/limits/rate-limit';
import { requestTimeout } from '../platform/http/limits/timeout';
import { serveText } from '../platform/http/page/serve-page';
import { underPrefix } from '../platform/http/reply-profile';
import { requestId } from '../platform/http/request-id';
import { requestMetrics } from '../platform/http/request-metrics';
import { requestSpan } from '../platform/http/request-span';
import { narrowedRouter } from '../platform/http/routing/narrowed-router';
import type { Routes } from '../platform/http/routing/routes';
import { unmatched } from '../platform/http/routing/unmatched';
import { noOtherWorkspaces, type WorkspaceRegistry } from '../stores/identity/workspace-registry';
import { type ServedArea, servedAreas } from './areas';
import { originRulesOf } from './authenticator';
import type { ApiContext } from './context';
import { oidcLandings } from './identity/oidc/routes';
import { createNextCalls } from './next-call';
import { openWorkspaceContext } from './open-context';
import { handleAuthenticators } from './runs/children/authenticate';
import { translateStoreError } from './store-errors';
import { apiDocs } from './system/openapi/docs/docs';
import type { WorkflowClients } from './workflow-clients';
import { connectRecords } from './workspace-records';
import { createWorkspaces, dependenciesOf, type OpenWorkspaces, routesOf } from './workspaces';

/** How long a request may take before its caller gets a timeout, in milliseconds. */
export const requestTimes = { usual: 30_000, upload: 120_000 };

export interface ApiApp {
  app: Koa<RequestState>;
  routes: Routes;
  router: Router<RequestState>;
  areas: ServedArea[];
  /** The workspaces besides `local`, which its context is of. */
  workspaces: OpenWorkspaces;
}

export interface AppOptions {
  /** Connects a workspace with what calls its workflows; without it the areas that need it are not served. */
  connect?: ((context: ApiContext) => WorkflowClients) | undefined;
  /** Which workspaces there are besides `local`; none when absent. */
  registry?: WorkspaceRegistry | undefined;
  /** Serves the page; there is none when absent. */
  page?: HttpMiddleware | undefined;
}

/** Puts the API together: the order of what every request goes through, and the areas with its routes. */
export function createApp(
  context: ApiContext,
  { connect, registry = noOtherWorkspaces, page }: AppOptions = {},
): ApiApp {
  const { env, log } = context;
  const production = env.NODE_ENV === 'production';
  const app = new Koa<RequestState>();
  const router = narrowedRouter<RequestState>();
  const areasOf = (own: ApiContext) => servedAreas(own, connect && { ...own, ...connect(own) });
  const areas = areasOf(context);
  const routes = routesOf(areas);
  const workspaces = createWorkspaces({
    local: context,
    registry,
    open: (workspaceId, closers) => openWorkspaceContext(context, workspaceId, closers),
    areasOf,
  });
  connectRecords(context.records, context, async (workspaceId) => (await workspaces.of(workspaceId)).context);
  const recordsOf = async (workspaceId: string) => {
    if (workspaceId === localWorkspace) {
      return context;
    }
    return (await registry.exists(workspaceId)) ? (await workspaces.of(workspaceId)).context : undefined;
  };
  routes.install(router, {
    ...dependenciesOf(context),
    workspaces,
    authenticate: context.authenticate,
    authFailures: context.authFailures,
    handles: handleAuthenticators(recordsOf),
    uploads: context.uploads,
    checkResponses: !production,
    assertWritable: () => context.database.assertWritable(),
  });

  // The caller has gone, or a socket broke while the response was written: no response is possible.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'connection ended early'));
  app.use(requestId());
  app.use(requestSpan());
  app.use(accessLog(log));
  app.use(requestMetrics(context.metrics.duration('http.server.request', 'Requests, by route and status')));
  app.use(securityHeaders());
  app.use(errorEnvelope(log, translateStoreError, createNextCalls(routes.contracts)));
  if (page) {
    // Before the origin is verified: a link on another site may lead here, and all callers are served the same files.
    app.use(page);
  }
  if (env.BOARD_PAGE) {
    app.use(serveText(apiDocs(routes.contracts)));
  }
  if (env.BOARD_COMPAT) {
    app.use(underPrefix(compatPrefix));
  }
  app.use(normalisePath());
  app.use(apiVersion());
  app.use(cors(originRulesOf(env), oidcLandings));
  app.use(
    rateLimit({
      limits: {
        global: env.RATE_LIMIT_GLOBAL,
        read: env.RATE_LIMIT_READ,
        write: env.RATE_LIMIT_WRITE,
        upload: env.RATE_LIMIT_UPLOAD,
      },
      localExempt: !production,
      addressOf: callerAddressBehind(env.BOARD_TRUSTED_PROXIES),
    }),
  );
  app.use(requestTimeout(requestTimes, log));
  app.use(router.routes());
  app.use(unmatched());
  const serve = app.callback();
  context.innerRequests.connect((request, response) => void serve(request, response));
  return { app, routes, router, areas, workspaces };
}
