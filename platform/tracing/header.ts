import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { contextOf, currentTraceContext, type TraceContext } from './spans';

/** The header of Temporal's own interceptors for OpenTelemetry, which workers in other languages read as well. */
export const traceHeader = '_tracer-data';

/** Headers with the span that is open; unchanged where none is. */
export function withTraceHeader(headers: Headers): Headers {
  const current = currentTraceContext();
  return current === undefined ? headers : { ...headers, [traceHeader]: defaultPayloadConverter.toPayload(current) };
}

/** The context that headers name; the present one when they name none, or none that can be read. */
export function contextOfHeaders(headers: Headers): ReturnType<typeof contextOf> {
  const payload = headers[traceHeader];
  try {
    const carrier: unknown = payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
    return contextOf(isCarrier(carrier) ? carrier : {});
  } catch {
    return contextOf({});
  }
}

const isCarrier = (value: unknown): value is Partial<TraceContext> =>
  typeof value === 'object' && value !== null && typeof (value as TraceContext).traceparent === 'string';
