import { join } from 'node:path';
import type { Log } from '../platform/log/log';
import type { Database } from './collection';
import { openSqlite } from './sqlite/database';

export interface OpenOptions {
  /** MongoDB's connection string; without it the embedded database in `dataDir` is used. */
  mongoUrl?: string;
  dataDir: string;
  log: Log;
}

/** Opens the store this process is configured for. @throws StoreUnavailableError */
export async function openDatabase({ dataDir, log }: OpenOptions): Promise<Database> {
  return openSqlite({ file: join(dataDir, 'runboard.sqlite'), log });
}
