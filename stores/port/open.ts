import { join } from 'node:path';
import type { Environment } from '../../platform/config/env';
import type { Log } from '../../platform/log/log';
import { openMongo } from '../mongo/database';
import { openSqlite } from '../sqlite/database';
import type { Database } from './collection';
import { databaseName } from './database-name';
import { repeatableDatabase } from './repeatable';

export interface OpenOptions {
  /** MongoDB's connection string; without it the embedded database in `dataDir` is used. */
  mongoUrl?: string | undefined;
  dataDir: string;
  /** Of the embedded database: how long others may hold its lock, in milliseconds, and how large it may grow, in MiB. */
  waitMs?: number | undefined;
  maxMb?: number | undefined;
  log: Log;
}

/** The environment's options of the store. */
export const storeOptions = (
  env: Pick<Environment, 'MONGODB_URL' | 'BOARD_STORE_WAIT_MS' | 'BOARD_STORE_MAX_MB'>,
): Pick<OpenOptions, 'mongoUrl' | 'waitMs' | 'maxMb'> => ({
  mongoUrl: env.MONGODB_URL,
  waitMs: env.BOARD_STORE_WAIT_MS,
  maxMb: env.BOARD_STORE_MAX_MB,
});

/** Opens the store this process is configured for. @throws StoreUnavailableError */
export async function openDatabase({ mongoUrl, dataDir, log, waitMs, maxMb }: OpenOptions): Promise<Database> {
  if (mongoUrl !== undefined) {
    return repeatableDatabase(await openMongo({ url: mongoUrl, log }));
  }
  const file = join(dataDir, databaseName);
  return repeatableDatabase(await openSqlite({ file, log, patienceMs: waitMs, maxMb }));
}
