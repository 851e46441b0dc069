import { SpanStatusCode } from '@opentelemetry/api';
import { contextOf, inSpan, SpanKind } from '../tracing/spans';
import type { HttpMiddleware } from './context';

/**
 * Opens a span for each request, which continues the trace that the caller's `traceparent` names. It has the route and never the
 * path or the query: both have ids, and whatever a caller sends.
 */
export const requestSpan = (): HttpMiddleware => (ctx, next) => {
  const { method } = ctx;
  const parent = contextOf({ traceparent: ctx.get('traceparent'), tracestate: ctx.get('tracestate') });
  return inSpan({ name: method, kind: SpanKind.SERVER, parent }, async (span) => {
    await next();
    if (span.isRecording()) {
      const { _matchedRoute: route } = ctx as { _matchedRoute?: unknown };
      span.updateName(typeof route === 'string' ? `${method} ${route}` : method);
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': ctx.status,
        'runboard.request_id': ctx.state.requestId,
        ...(typeof route === 'string' && { 'http.route': route }),
      });
      if (ctx.status >= 500) {
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
  });
};
