import { SpanStatusCode } from '@opentelemetry/api';
import { compact } from '../json/compact';
import { contextOf, inSpan, SpanKind } from '../tracing/spans';
import { type HttpMiddleware, matchedRoute } from './context';

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
      const route = matchedRoute(ctx);
      span.updateName(route === undefined ? method : `${method} ${route}`);
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': ctx.status,
        'runboard.request_id': ctx.state.requestId,
        ...compact({ 'http.route': route }),
      });
      if (ctx.status >= 500) {
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
  });
};
