import type { Log } from '../log/log';
import type { HttpMiddleware } from './context';

/** One line per request. Never the query string or a header: both may carry keys. */
export const accessLog =
  (log: Log): HttpMiddleware =>
  async (ctx, next) => {
    const startedAt = performance.now();
    const path = ctx.path.slice(0, 300);
    await next();
    const ms = Math.round((performance.now() - startedAt) * 100) / 100;
    log.info({ requestId: ctx.state.requestId, method: ctx.method, path, status: ctx.status, ms }, 'request');
  };
