import type { Log } from '../log/log';
import type { HttpMiddleware } from './context';

/**
 * One line per request. Never the query string or a header: both may carry keys.
 *
 * @param shown a path as it is logged, where one may carry a key too
 */
export const accessLog = (log: Log, shown = (path: string): string => path): HttpMiddleware => {
  // None of its fields is secret: searching each line for those that are takes longer than writing it.
  const lines = log.child({}, { redact: [] });
  return (ctx, next) => {
    const startedAt = performance.now();
    const path = shown(ctx.path).slice(0, 300);
    return next().then(() => {
      const ms = Math.round((performance.now() - startedAt) * 100) / 100;
      lines.info({ requestId: ctx.state.requestId, method: ctx.method, path, status: ctx.status, ms }, 'request');
    });
  };
};
