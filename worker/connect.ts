import { join } from 'node:path';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import { secretValues } from '../platform/config/secret-values';
import { compact } from '../platform/json/compact';
import type { Log } from '../platform/log/log';
import { hideOwnSecrets } from '../platform/log/own-secrets';
import type { Closer } from '../platform/processes/closers';
import { openDataDirectory } from '../platform/processes/data-directory';
import { awaitSpace } from '../platform/processes/disk/await-space';
import { connectClient, connectWorker } from '../platform/temporal/connect';
import { discoverTemporal } from '../platform/temporal/embedded/discover';
import { ensureSearchAttributes } from '../platform/temporal/ensure-search-attributes';
import { installRuntime } from '../platform/temporal/runtime';
import { temporalSecurity } from '../platform/temporal/security';
import { createBoard } from '../stores/board-files/board';
import { openDatabase, storeOptions } from '../stores/port/open';
import { openBoardHome } from '../stores/system/board-home';
import { hostIdOf } from './host';

export interface ConnectSources {
  env: WorkerEnvironment;
  log: Log;
  /** Ends the attempts to connect. */
  signal: AbortSignal | undefined;
}

/** Connects to Temporal and opens the stores; what was opened is left to the closers, also when a later part cannot be. */
export async function connect({ env, log, signal }: ConnectSources, closers: Closer[]) {
  installRuntime(log, { metricsAddress: env.BOARD_WORKER_METRICS_ADDRESS });
  hideOwnSecrets(secretValues(env));
  const dataDir = env.BOARD_DATA_DIR;
  await awaitSpace(dataDir, { log, signal });
  await openDataDirectory(dataDir, log);
  const { address } = await discoverTemporal({ configured: env.TEMPORAL_ADDRESS, dataDir, signal });
  const security = temporalSecurity(env);
  const target = { address, namespace: env.TEMPORAL_NAMESPACE, security, log, ...compact({ signal }) };
  const connection = await connectWorker(target);
  closers.push(() => connection.close());
  const client = await connectClient(target);
  closers.push(() => client.connection.close());
  await ensureSearchAttributes(client.connection, env.TEMPORAL_NAMESPACE, { log });
  const hostId = await hostIdOf(dataDir, env.BOARD_HOST_ID);
  const database = await openDatabase({ ...storeOptions(env), dataDir, log });
  closers.push(() => database.close());
  const home = await openBoardHome(database, {
    dataDir,
    shared: env.MONGODB_URL !== undefined,
    onWait: () => log.info('waiting for the api to publish the task directory'),
  });
  const board = (await home.isHere(signal)) ? await createBoard({ dir: join(dataDir, 'tasks'), log }) : undefined;
  if (board) {
    closers.push(() => board.close());
  }
  return { connection, client, database, board, hostId };
}
