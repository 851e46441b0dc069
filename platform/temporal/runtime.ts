import { DefaultLogger, type LogMetadata, Runtime } from '@temporalio/worker';
import type { Log } from '../log/log';

let installed = false;

export interface RuntimeOptions {
  /** Where the metrics of the SDK, and those that activities record, are served for Prometheus, as `host:port`. */
  metricsAddress?: string | undefined;
}

/**
 * Sends the SDK's own lines to the service's log. Once per process; shutdown signals stay with the service.
 *
 * @throws Error when the address of the metrics is in use
 */
export function installRuntime(log: Log, { metricsAddress }: RuntimeOptions = {}): void {
  if (installed) {
    return;
  }
  installed = true;
  const child = log.child({ component: 'temporal' });
  Runtime.install({
    shutdownSignals: [],
    ...(metricsAddress === undefined
      ? {}
      : {
          telemetryOptions: {
            metrics: {
              prometheus: {
                bindAddress: metricsAddress,
                countersTotalSuffix: true,
                unitSuffix: true,
                useSecondsForDurations: true,
              },
            },
          },
        }),
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      const name =
        level === 'TRACE'
          ? 'trace'
          : level === 'DEBUG'
            ? 'debug'
            : level === 'INFO'
              ? 'debug'
              : level === 'WARN'
                ? 'warn'
                : 'error';
      child[name](readable(meta), message);
    }),
  });
}

/** With what pino cannot print (64-bit integers and errors in the SDK's metadata) as something that it can. */
const readable = (meta: LogMetadata | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(meta ?? {}).map(([key, value]) => [key, printable(value)]));

function printable(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return String(value);
  }
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
}
