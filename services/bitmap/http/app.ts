import { createHash, timingSafeEqual } from 'node:crypto';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Log } from '../../../platform/log/log';
import { errorResponse } from '../answers/messages';
import { exactJson } from '../exact-json';
import type { ServerContext } from './context';
import { earlierRoutes } from './earlier-routes';
import { importRoutes } from './import-routes';
import { queryRoutes } from './query-routes';
import { json, protobuf, Refusal } from './reply';
import { schemaRoutes } from './schema-routes';
import { serverRoutes } from './server-routes';

export interface AppOptions extends ServerContext {
  log: Log;
  /** Callers must present it as a bearer token; absent: everybody may do everything. */
  token?: string;
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Probes need no token. */
const openPaths = new Set(['/health']);

function authenticate(token: string): Middleware {
  const wanted = sha256(token);
  return (ctx, next) => {
    const given = /^Bearer +(\S+) *$/i.exec(ctx.get('Authorization'))?.[1];
    if (openPaths.has(ctx.path) || (given !== undefined && timingSafeEqual(sha256(given), wanted))) return next();
    ctx.set('WWW-Authenticate', 'Bearer');
    throw new Refusal(401, 'a bearer token is required', 'error');
  };
}

function answerRefusal(ctx: Context, { status, message, form }: Refusal): void {
  if (form === 'protobuf') protobuf(ctx, errorResponse(message));
  else if (form === 'error') json(ctx, exactJson({ error: message }));
  else if (form === 'envelope') json(ctx, exactJson({ success: false, error: { message } }));
  else {
    ctx.body = `${message}\n`;
    ctx.type = 'text/plain';
  }
  ctx.status = status;
}

/** The one place where errors become answers. */
function errors(log: Log): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Refusal))
        log.error({ err: error, method: ctx.method, path: ctx.path }, 'a request failed');
      answerRefusal(ctx, error instanceof Refusal ? error : new Refusal(500, 'internal error', 'error'));
    }
  };
}

/** The server's HTTP interface, both revisions. */
export function createApp({ log, token, ...context }: AppOptions): Koa {
  const app = new Koa();
  app.silent = true;
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A caller that goes away in the middle of an answer.
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    log.error({ err: error }, 'an answer could not be sent');
  });
  app.use(async (ctx, next) => {
    const started = performance.now();
    await next();
    const route = (ctx as { routerPath?: string; _matchedRoute?: string | RegExp })._matchedRoute ?? 'unknown';
    context.metrics.observe(ctx.method, String(route), ctx.status, (performance.now() - started) / 1000);
  });
  app.use(errors(log));
  if (token !== undefined) app.use(authenticate(token));
  app.use(async (ctx, next) => {
    await next();
    if (ctx.status === 405) ctx.body = '';
  });
  const router = new Router();
  for (const routes of [queryRoutes, schemaRoutes, importRoutes, earlierRoutes, serverRoutes]) routes(router, context);
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}
