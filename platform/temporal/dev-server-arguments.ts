import { searchAttributes } from './search-attributes';

/** What the development server is started with. Ports are final: nothing listens on them yet. */
export interface DevServerPlan {
  dbFile: string;
  namespace: string;
  port: number;
  httpPort: number;
  uiPort: number;
}

/**
 * The command line of the development server. The pragmas double its throughput against SQLite's rollback journal, the
 * single partition shortens the tail of task dispatch on one machine, and the raised update limit lets one workflow
 * answer many callers at once (above the limit of 10 they are retried so slowly that they look hung).
 */
export function devServerArguments({ dbFile, namespace, port, httpPort, uiPort }: DevServerPlan): string[] {
  const repeated = (flag: string, values: readonly string[]): string[] => values.flatMap((value) => [flag, value]);
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...['--http-port', String(httpPort), '--ui-port', String(uiPort)],
    ...['--namespace', namespace, '--db-filename', dbFile, '--ui-disable-news-fetch', '--log-level', 'warn'],
    ...repeated('--sqlite-pragma', ['journal_mode=WAL', 'synchronous=NORMAL']),
    ...repeated('--dynamic-config-value', [
      'history.maxInFlightUpdates=200',
      'matching.numTaskqueueReadPartitions=1',
      'matching.numTaskqueueWritePartitions=1',
    ]),
    ...repeated(
      '--search-attribute',
      Object.values(searchAttributes).map(({ name }) => `${name}=Keyword`),
    ),
  ];
}
