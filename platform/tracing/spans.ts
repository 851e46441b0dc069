import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** Where a span belongs, in the form that the W3C names for HTTP headers. */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

let recording = false;

/** Whether this process records spans: fixed before its parts are built, which are built without any where it is not. */
export const isTracing = (): boolean => recording;

/** Has what is built from now on open spans, or no more. */
export function setTracing(on: boolean): void {
  recording = on;
}

/** Where the code that runs now belongs; `undefined` when no span is open, as where nothing is traced. */
export function currentTraceContext(of: Context = context.active()): TraceContext | undefined {
  const carrier: Partial<TraceContext> = {};
  propagation.inject(of, carrier);
  const { traceparent, tracestate } = carrier;
  return traceparent === undefined ? undefined : { traceparent, ...(tracestate !== undefined && { tracestate }) };
}

/** The context of a span elsewhere; what is no trace context counts as none. */
export const contextOf = (carrier: Partial<TraceContext>): Context => propagation.extract(context.active(), carrier);

/** The ids by which log lines name the span that is open. */
export function logFields(): { trace_id?: string; span_id?: string } {
  const span = trace.getSpanContext(context.active());
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

export interface SpanDescription {
  name: string;
  kind: SpanKind;
  attributes?: Attributes;
  /** What it is a part of; the span that is open when absent. */
  parent?: Context;
}

/** Neither a stack nor a message: both may hold what callers and agents have written. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** Does `work` within a span of its own. One that fails names the class of its error. */
export async function inSpan<T>(
  { name, kind, attributes = {}, parent = context.active() }: SpanDescription,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = trace.getTracer('runboard').startSpan(name, { kind, attributes }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    span.setAttribute('error.type', nameOf(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** The same, as a part of the span that is open. Where none is, as in what a process does by itself, `work` alone. */
export const inChildSpan = <T>(description: SpanDescription, work: (span?: Span) => Promise<T>): Promise<T> =>
  trace.getSpan(context.active()) === undefined ? work() : inSpan(description, work);

/** Does `work` as a part of the trace that was noted; where none was, as a part of what runs now. */
export const continueTrace = <T>(noted: TraceContext | undefined, work: () => T): T =>
  noted === undefined ? work() : context.with(contextOf(noted), work);

export { SpanKind };
