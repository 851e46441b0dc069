import { join } from 'node:path';
import type { Log } from '../platform/log/log';
import type { Database } from './collection';
import { openMongo } from './mongo/database';
import { openSqlite } from './sqlite/database';

export interface OpenOptions {
  /** MongoDB's connection string; without it the embedded database in `dataDir` is used. */
  mongoUrl?: string | undefined;
  dataDir: string;
  log: Log;
}

/** Opens the store this process is configured for. @throws StoreUnavailableError */
export async function openDatabase({ mongoUrl, dataDir, log }: OpenOptions): Promise<Database> {
  if (mongoUrl !== undefined) return openMongo({ url: mongoUrl, log });
  return openSqlite({ file: join(dataDir, 'runboard.sqlite'), log });
}
