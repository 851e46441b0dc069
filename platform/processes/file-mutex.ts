import { setTimeout as delay } from 'node:timers/promises';
import Libsql from 'libsql';

/** How often a mutex that another process has is tried again. */
const everyMs = 10;

const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');

/**
 * Runs `work` while no other process runs any under the same file. The lock is the system's, taken by SQLite: it ends with its
 * process, however that ends, so none is ever left over. On file systems without locks `work` runs all the same.
 *
 * @param file created empty when missing, and left
 * @param withinMs how long another process may have it
 * @returns the result of `work`, or `undefined` when another process had it for all of that time
 */
export async function runFileExclusive<T>(
  file: string,
  withinMs: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const database = open(file);
  try {
    const deadline = performance.now() + withinMs;
    while (!lock(database)) {
      if (performance.now() > deadline) {
        return undefined;
      }
      await delay(everyMs);
    }
    return await work();
  } finally {
    database?.close();
  }
}

function open(file: string): Libsql.Database | undefined {
  try {
    return new Libsql(file, { timeout: 0 });
  } catch {
    return undefined;
  }
}

function lock(database: Libsql.Database | undefined): boolean {
  try {
    database?.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    return !isBusy(error);
  }
}
