import type { RecordDuration } from '../metrics/metrics';
import { type HttpMiddleware, matchedRoute } from './context';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Measures each request by its route, never by its path: that has ids, and whatever a caller sends. */
export const requestMetrics =
  (record: RecordDuration): HttpMiddleware =>
  (ctx, next) => {
    const startedAt = performance.now();
    return next().then(() =>
      record(performance.now() - startedAt, {
        'http.request.method': methods.has(ctx.method) ? ctx.method : '_OTHER',
        'http.route': matchedRoute(ctx) ?? 'none',
        'http.response.status_code': ctx.status,
      }),
    );
  };
