import { SpanStatusCode } from '@opentelemetry/api';
import { compact } from '../json/compact';
import { contextOf, inSpan, isTracing, SpanKind } from '../tracing/spans';
import { type HttpContext, matchedRoute } from './context';

/** For the API and for services whose requests have other states, or no ids. */
type SpanMiddleware = (ctx: HttpContext, next: () => Promise<unknown>) => Promise<unknown>;

/**
 * Opens a span for each request, which continues the trace that the caller's `traceparent` names. It has the route and never the
 * path or the query: both have ids, and whatever a caller sends. Without tracing it only passes requests on.
 */
export const requestSpan = (): SpanMiddleware => (isTracing() ? traced : (_ctx, next) => next());

const traced: SpanMiddleware = (ctx, next) => {
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
        ...compact({ 'http.route': route, 'runboard.request_id': ctx.state.requestId }),
      });
      if (ctx.status >= 500) {
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
  });
};
