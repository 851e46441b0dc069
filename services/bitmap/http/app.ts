import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { requestSpan } from '../../../platform/http/request-span';
import type { Log } from '../../../platform/log/log';
import type { ServerContext } from './context';
import { earlierRoutes } from './earlier-routes';
import type { Gate } from './gate';
import { importRoutes } from './import-routes';
import { queryRoutes } from './query-routes';
import { quickQueries } from './quick-queries';
import { internalError, Refusal, refusalReply } from './reply';
import { schemaRoutes } from './schema-routes';
import { serverRoutes } from './server-routes';

export interface AppOptions extends ServerContext {
  log: Log;
  gate: Gate;
}

function admission(gate: Gate): Middleware {
  return (ctx, next) => {
    const refusal = gate(ctx.req);
    if (refusal) {
      throw refusal;
    }
    return next();
  };
}

/** Maps all errors to responses. */
function errors(log: Log): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Refusal)) {
        log.error({ err: error, method: ctx.method, path: ctx.path }, 'request failed');
      }
      const { status, type, body } = refusalReply(error instanceof Refusal ? error : internalError());
      ctx.body = body;
      ctx.type = type;
      ctx.status = status;
      if (error instanceof Refusal) {
        ctx.set(error.headers);
      }
    }
  };
}

/** The server's HTTP interface, both revisions. Plain queries, which are most of all requests, pass by the middleware. */
export function createApp({ log, gate, ...context }: AppOptions): RequestListener {
  const rest = middleware({ log, gate, ...context }).callback();
  const quick = quickQueries({ ...context, log, gate });
  return (request, response) => {
    if (!quick(request, response)) {
      void rest(request, response);
    }
  };
}

function middleware({ log, gate, ...context }: AppOptions): Koa {
  const app = new Koa();
  app.silent = true;
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A caller that goes away in the middle of a response.
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'ERR_STREAM_PREMATURE_CLOSE') {
      return;
    }
    log.error({ err: error }, 'response send failed');
  });
  app.use(requestSpan());
  app.use(async (ctx, next) => {
    const started = performance.now();
    await next();
    const route = (ctx as { routerPath?: string; _matchedRoute?: string | RegExp })._matchedRoute ?? 'unknown';
    context.metrics.observe({
      method: ctx.method,
      route: String(route),
      status: ctx.status,
      seconds: (performance.now() - started) / 1000,
    });
  });
  app.use(errors(log));
  app.use(admission(gate));
  app.use(async (ctx, next) => {
    await next();
    if (ctx.status === 405) {
      ctx.body = '';
    }
  });
  const router = new Router({ sensitive: true });
  for (const routes of [queryRoutes, schemaRoutes, importRoutes, earlierRoutes, serverRoutes]) {
    routes(router, context);
  }
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}
