import { join } from 'node:path';
import type { Environment } from '../../platform/config/env';
import type { Log } from '../../platform/log/log';
import { isTracing } from '../../platform/tracing/spans';
import { openMongo } from '../mongo/database';
import { openSqlite } from '../sqlite/database';
import type { Database } from './collection';
import { databaseName } from './database-name';
import { claimFormat } from './format';
import { repeatableDatabase } from './wrappers/repeatable';
import { tracedDatabase } from './wrappers/traced-database';

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

/**
 * Opens the store this process is configured for.
 *
 * @throws StoreUnavailableError; LaterFormatError, and then nothing is changed
 */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const adapter = await openAdapter(options);
  // Without tracing nothing is between an operation and its adapter.
  const database = repeatableDatabase(isTracing() ? tracedDatabase(adapter) : adapter);
  try {
    await claimFormat(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function openAdapter({ mongoUrl, dataDir, log, waitMs, maxMb }: OpenOptions): Promise<Database> {
  return mongoUrl === undefined
    ? openSqlite({ file: join(dataDir, databaseName), log, patienceMs: waitMs, maxMb })
    : openMongo({ url: mongoUrl, log });
}
