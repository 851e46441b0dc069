import type { IncomingMessage } from 'node:http';
import { SpanStatusCode } from '@opentelemetry/api';
import { compact } from '../json/compact';
import { contextOf, inSpan, isTracing, SpanKind } from '../tracing/spans';
import { type HttpContext, matchedRoute } from './context';

/** For the API and for services whose requests have other states, or no ids. */
type SpanMiddleware = (ctx: HttpContext, next: () => Promise<unknown>) => Promise<unknown>;

/** What came of a request. */
interface Served {
  /** Absent where its caller left before. */
  status?: number;
  /** Absent for one that was refused before it had any. */
  route?: string;
  requestId?: string;
}

/**
 * Opens a span for each request, which continues the trace that the caller's `traceparent` names. It has the route and never the
 * path or the query: both have ids, and whatever a caller sends. Without tracing it only passes requests on.
 */
export const requestSpan = (): SpanMiddleware => (isTracing() ? traced : (_ctx, next) => next());

const traced: SpanMiddleware = (ctx, next) =>
  inRequestSpan(ctx.req, async () => {
    await next();
    return { status: ctx.status, ...compact({ route: matchedRoute(ctx), requestId: ctx.state.requestId }) };
  });

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/** Serves a request within its span; for what is served without middleware. */
export function inRequestSpan({ method = '', headers }: IncomingMessage, serve: () => Promise<Served>): Promise<void> {
  const { traceparent, tracestate } = headers;
  const parent = contextOf(compact({ traceparent: single(traceparent), tracestate: single(tracestate) }));
  return inSpan({ name: method, kind: SpanKind.SERVER, parent }, async (span) => {
    const { status, route, requestId } = await serve();
    span.updateName(route === undefined ? method : `${method} ${route}`);
    span.setAttributes({
      'http.request.method': method,
      ...compact({
        'http.response.status_code': status,
        'http.route': route,
        'runboard.request_id': requestId,
      }),
    });
    if (status !== undefined && status >= 500) {
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
  });
}
