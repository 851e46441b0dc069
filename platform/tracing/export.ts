import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { Environment } from '../config/env';
import { addLineFields, type Log } from '../log/log';
import type { CloseTracing } from './open';
import { logFields, setTracing } from './spans';

export type TracingSettings = Pick<
  Environment,
  'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_TRACES_SAMPLER_ARG' | 'OTEL_BSP_SCHEDULE_DELAY'
>;

/** How long one export may take, in milliseconds: a collector that is away delays no shutdown for longer. */
const exportWithinMs = 3_000;
/** How often a collector that does not take spans is logged, in milliseconds. */
const logEveryMs = 60_000;

/** Records the spans of this process, and sends them in batches to a collector by OTLP over HTTP. */
export function exportSpans(
  settings: TracingSettings & { OTEL_EXPORTER_OTLP_ENDPOINT: string },
  part: string,
  log: Log,
): CloseTracing {
  const url = `${settings.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({
    url,
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMillis: exportWithinMs,
  });
  // One ratio for all processes: a trace is recorded whole. Callers choose neither that theirs are recorded nor the ratio.
  const ratio = new TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `runboard-${part}`, 'service.namespace': 'runboard' }),
    sampler: new ParentBasedSampler({ root: ratio, remoteParentSampled: ratio }),
    spanProcessors: [
      new BatchSpanProcessor(exporter, {
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
        exportTimeoutMillis: exportWithinMs,
      }),
    ],
  });
  let loggedAt = -Infinity;
  setGlobalErrorHandler((err) => {
    if (performance.now() - loggedAt >= logEveryMs) {
      loggedAt = performance.now();
      log.warn({ err }, 'export of spans failed');
    }
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  addLineFields(logFields);
  setTracing(true);
  return async () => {
    setTracing(false);
    trace.disable();
    propagation.disable();
    context.disable();
    await provider.shutdown().catch((err: unknown) => log.warn({ err }, 'export of spans failed'));
  };
}
