import '../platform/processes/parts/preload';
import { Client, Connection } from '@temporalio/client';
import { environmentOrExit, orExit } from '../platform/config/process-environment';
import { ListenError } from '../platform/http/server/listen-error';
import { createLog } from '../platform/log/log';
import { CatalogError } from '../platform/models/catalog';
import { DataDirectoryError } from '../platform/processes/data-directory';
import { startWithSpace } from '../platform/processes/disk/await-space';
import { makeFilesPrivate } from '../platform/processes/operator-umask';
import { announceReady, endInOrder } from '../platform/processes/parts/lifecycle';
import { configurationErrorExitCode } from '../platform/processes/parts/part';
import { retryUntilClosed } from '../platform/temporal/closed-connection';
import { clientInterceptors } from '../platform/temporal/connect';
import { discoverTemporal } from '../platform/temporal/embedded/discover';
import { temporalSecurity } from '../platform/temporal/security';
import { openTracing } from '../platform/tracing/open';
import { isOutOfSpace } from '../stores/port/errors';
import { LaterFormatError } from '../stores/port/format';
import { BoardElsewhereError } from '../stores/system/board-home';
import { type RunningApi, startApi } from './start';

/** Running requests get 10 s, then the board and the stores close. */
const closeWithinMs = 15_000;

const isMisconfigured = (error: unknown): boolean =>
  error instanceof ListenError ||
  error instanceof DataDirectoryError ||
  error instanceof BoardElsewhereError ||
  error instanceof CatalogError ||
  error instanceof LaterFormatError;

async function main(): Promise<void> {
  makeFilesPrivate();
  const env = environmentOrExit('api');
  const security = orExit(() => temporalSecurity(env));
  const log = createLog({ name: 'api', level: env.LOG_LEVEL });
  const starting = new AbortController();
  const closeTracing = await openTracing(env, 'api', log);
  let api: RunningApi | undefined;
  endInOrder({
    log,
    withinMs: closeWithinMs,
    close: async () => {
      starting.abort(new Error('The api is ending.'));
      await api?.close();
      await closeTracing();
    },
  });
  try {
    const { BOARD_DATA_DIR: dataDir, TEMPORAL_ADDRESS: configured, TEMPORAL_HTTP_ADDRESS: configuredHttp } = env;
    const temporal = await discoverTemporal({ configured, configuredHttp, dataDir, signal: starting.signal });
    // Connects with the first call and again after every loss: the board is served while Temporal is away.
    const connection = Connection.lazy({ address: temporal.address, interceptors: retryUntilClosed, ...security });
    const settings = { ...env, TEMPORAL_HTTP_ADDRESS: temporal.httpAddress };
    const client = new Client({
      connection,
      namespace: env.TEMPORAL_NAMESPACE,
      interceptors: clientInterceptors,
    });
    api = await startWithSpace(dataDir, () => startApi(settings, log, { client }), {
      log,
      signal: starting.signal,
      isFull: isOutOfSpace,
    });
  } catch (error) {
    if (starting.signal.aborted) {
      return;
    }
    log.fatal({ err: error }, 'start failed');
    process.exit(isMisconfigured(error) ? configurationErrorExitCode : 1);
  }
  log.info({ url: api.url }, 'listening');
  announceReady();
}

void main();
