import { searchAttributes } from '../search-attributes';
import type { SocketAddress } from './private-ui-address';

/** What the development server is started with. Ports are final: nothing listens on them yet. */
export interface DevServerPlan {
  dbFile: string;
  namespace: string;
  port: number;
  httpPort: number;
  /** Where its UI listens; it has none without. */
  ui?: SocketAddress;
}

/**
 * The only `Host` that the HTTP API accepts: with its spaces it is none that a request can have, so that the API is off. The
 * CLI cannot turn it off otherwise, and pages on the web reach it. Nexus operations do not check it.
 */
const noHost = 'no host has this name';

/** Looks for new tasks a second by each queue of the history shard: with Temporal's 20 a workflow task waits up to 50 ms for the next. */
const maxPollRps = 1000;

/**
 * The command line of the development server. The pragmas double its throughput against SQLite's rollback journal, the single
 * partition shortens the tail of task dispatch on one machine, and the raised update limit lets one workflow serve many callers
 * at once (above the limit of 10 they are retried so slowly that they look hung).
 */
export function devServerArguments({ dbFile, namespace, port, httpPort, ui }: DevServerPlan): string[] {
  const repeated = (flag: string, values: readonly string[]): string[] => values.flatMap((value) => [flag, value]);
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--http-port', String(httpPort)],
    ...(ui ? ['--ui-ip', ui.host, '--ui-port', String(ui.port), '--ui-disable-news-fetch'] : ['--headless']),
    ...['--namespace', namespace, '--db-filename', dbFile, '--log-level', 'warn'],
    ...repeated('--sqlite-pragma', ['journal_mode=WAL', 'synchronous=NORMAL']),
    ...repeated('--dynamic-config-value', [
      `frontend.httpAllowedHosts=${JSON.stringify([noHost])}`,
      'history.maxInFlightUpdates=200',
      `history.transferProcessorMaxPollRPS=${maxPollRps}`,
      `history.timerProcessorMaxPollRPS=${maxPollRps}`,
      `history.visibilityProcessorMaxPollRPS=${maxPollRps}`,
      'matching.numTaskqueueReadPartitions=1',
      'matching.numTaskqueueWritePartitions=1',
    ]),
    ...repeated(
      '--search-attribute',
      Object.values(searchAttributes).map(({ name }) => `${name}=Keyword`),
    ),
  ];
}
