import { execFile } from 'node:child_process';
import { copyFile, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import Libsql from 'libsql';
import { syncPath } from '../../platform/processes/disk/sync-path';
import { StoreUnavailableError } from '../port/errors';
import { isBusy } from './errors';

/** A database file and the file that its copy becomes; nothing is there yet. */
export interface DatabaseCopy {
  from: string;
  to: string;
}

/** The native busy handler blocks the event loop, so it waits this short and the caller waits on without blocking. */
const blockingWaitMs = 5;
const retryMs = 2;

/**
 * Copies databases that other processes write meanwhile, all of them as they were at one instant. Their writers wait only while the
 * write-ahead logs are copied, a few MiB each.
 *
 * At the instant all write locks are held: the logs are copied, and a reader of each database is opened. Until the readers end, no
 * checkpoint writes into a database file what is not in the copy of its log, so that the files are copied without a lock.
 *
 * @param options.patienceMs how long the write locks of others are waited for
 * @throws StoreUnavailableError when a database cannot be locked, is not a database with a write-ahead log, or its copy is damaged
 */
export async function snapshotDatabases(
  copies: readonly DatabaseCopy[],
  { patienceMs = 10_000 }: { patienceMs?: number } = {},
): Promise<void> {
  const opened: Libsql.Database[] = [];
  try {
    const locked = copies.map((copy) => ({
      ...copy,
      writer: openDatabase(copy.from, opened),
      reader: openDatabase(copy.from, opened),
    }));
    const deadline = performance.now() + patienceMs;
    for (const { writer, from } of locked) {
      await lock(writer, { file: from, deadline });
    }
    for (const { reader, from, to } of locked) {
      await copyLog(from, to);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM sqlite_schema').get();
    }
    locked.forEach(({ writer }) => writer.exec('ROLLBACK'));
    for (const { from, to } of locked) {
      await copyLocked(from, to);
    }
  } finally {
    opened.forEach(end);
  }
  for (const { from, to } of copies) {
    foldLog(from, to);
    // The driver closes a file some time after its connection.
    await Promise.all(['-wal', '-shm'].map((suffix) => rm(`${to}${suffix}`, { force: true })));
    await syncPath(to);
  }
}

function openDatabase(file: string, opened: Libsql.Database[]): Libsql.Database {
  try {
    const database = new Libsql(file, { timeout: blockingWaitMs, fileMustExist: true });
    opened.push(database);
    const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
    if (mode !== 'wal') {
      throw new Error(`its journal mode is ${mode}`);
    }
    return database;
  } catch (error) {
    throw new StoreUnavailableError(`The database ${file} cannot be copied: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function end(database: Libsql.Database): void {
  if (database.inTransaction) {
    database.exec('ROLLBACK');
  }
  database.close();
}

async function lock(writer: Libsql.Database, { file, deadline }: { file: string; deadline: number }): Promise<void> {
  for (;;) {
    try {
      writer.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) {
        throw new StoreUnavailableError(`The database ${file} cannot be locked: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
    await delay(retryMs);
  }
}

/** Nothing of SQLite has locks on the log itself. A database that was closed has none. */
async function copyLog(from: string, to: string): Promise<void> {
  const { size } = await stat(`${from}-wal`).catch(() => ({ size: 0 }));
  if (size > 0) {
    await copyFile(`${from}-wal`, `${to}-wal`);
  }
}

/** By another process: closing a file releases the locks that SQLite has on it in the same process. */
async function copyLocked(from: string, to: string): Promise<void> {
  const shared = process.platform === 'linux' ? ['--reflink=auto'] : [];
  await promisify(execFile)('cp', [...shared, '--', from, to]);
}

/** Writes the copied log into the copy, which then is one file. */
function foldLog(from: string, to: string): void {
  const copy = new Libsql(to);
  try {
    copy.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    const [result] = copy.prepare('PRAGMA quick_check(1)').raw().all() as [string][];
    if (result?.[0] !== 'ok') {
      throw new StoreUnavailableError(`The database ${from} is damaged: ${result?.[0]}.`);
    }
  } finally {
    copy.close();
  }
}
