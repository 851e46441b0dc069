import '../../platform/processes/parts/preload';
import { environmentOrExit } from '../../platform/config/process-environment';
import { ListenError } from '../../platform/http/server/listen-error';
import { createLog } from '../../platform/log/log';
import { DataDirectoryError, DataDirectoryInUseError } from '../../platform/processes/data-directory';
import { makeFilesPrivate } from '../../platform/processes/operator-umask';
import { announceReady, endInOrder } from '../../platform/processes/parts/lifecycle';
import { configurationErrorExitCode } from '../../platform/processes/parts/part';
import { openTracing } from '../../platform/tracing/open';
import { bitmapSettings } from './settings';
import { type RunningBitmapServer, startBitmapServer } from './start';

/** Running requests get 5 s; then snapshots of what changed are written, so that the next start is quick. */
const closeWithinMs = 20_000;

/** What only another setting would help against. */
const lasting = [ListenError, DataDirectoryError, DataDirectoryInUseError];

async function main(): Promise<void> {
  makeFilesPrivate();
  const env = environmentOrExit('bitmap');
  const log = createLog({ name: 'bitmap', level: env.LOG_LEVEL });
  const closeTracing = await openTracing(env, 'bitmap', log);
  let server: RunningBitmapServer | undefined;
  endInOrder({
    log,
    withinMs: closeWithinMs,
    close: async () => {
      await server?.close();
      await closeTracing();
    },
    drain: async () => server?.drain(),
  });
  try {
    server = await startBitmapServer({
      ...bitmapSettings(env),
      log,
      onFailure: (error) => {
        // What is in memory is more than what is on disk: the next start has what was acknowledged.
        log.fatal({ err: error }, 'log write failed');
        process.exit(1);
      },
    });
  } catch (error) {
    log.fatal({ err: error }, 'start failed');
    process.exit(lasting.some((kind) => error instanceof kind) ? configurationErrorExitCode : 1);
  }
  log.info({ url: server.url }, 'listening');
  announceReady();
}

void main();
