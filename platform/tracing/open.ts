import type { Log } from '../log/log';
import type { TracingSettings } from './export';

/** Ends the export: what was recorded is sent first. */
export type CloseTracing = () => Promise<void>;

/**
 * Records spans and sends them to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names. Without one nothing of the SDK is loaded,
 * and spans are no operations. Once in a process.
 *
 * @param part the name of the process, with which `service.name` ends
 */
export async function openTracing(settings: TracingSettings, part: string, log: Log): Promise<CloseTracing> {
  if (settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) {
    return () => Promise.resolve();
  }
  const { exportSpans } = await import('./export.js');
  return exportSpans({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: settings.OTEL_EXPORTER_OTLP_ENDPOINT }, part, log);
}
