import { DefaultLogger, type LogEntry, type LogMetadata, Runtime } from '@temporalio/worker';
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
    logger: new DefaultLogger('INFO', (line) => child[logLevelOf(line)](readable(line.meta), line.message)),
  });
}

/** The SDK reports with each start what a worker of activities is: no warning for who reads the log. */
const ofActivityWorkers = 'No workflows registered, not polling for workflow tasks';

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** The level of a line of the SDK in the service's log: what it does all the time is for debugging. */
export const logLevelOf = ({ level, message }: Pick<LogEntry, 'level' | 'message'>) =>
  message === ofActivityWorkers ? 'debug' : levels[level];

/** With what pino cannot print (64-bit integers and errors in the SDK's metadata) as something that it can. */
const readable = (meta: LogMetadata | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(meta ?? {}).map(([key, value]) => [key, printable(value)]));

function printable(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return String(value);
  }
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
}
