import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDiskFull } from '../../errors/disk-full';
import type { Log } from '../../log/log';
import { makeDataDirectory } from '../data-directory';

export interface AwaitSpaceOptions {
  log: Log;
  /** Ends the wait, with its reason. */
  signal?: AbortSignal;
}

/** What opening the stores may need, in bytes. */
const needed = Buffer.alloc(1_048_576);
const pollIntervalMs = 1_000;
const logIntervalMs = 60_000;

/**
 * Waits until a MiB can be written in the data directory, or one in it, which is made. It is tried, because no figure of free space includes
 * quotas. While it waits it logs so, once a minute.
 *
 * @returns whether it had to wait
 * @throws the reason of the signal, DataDirectoryError, or the system's error for anything else but a full disk
 */
export async function awaitSpace(directory: string, { log, signal }: AwaitSpaceOptions): Promise<boolean> {
  const since = performance.now();
  let loggedAt: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const full = await fullDisk(directory);
    const now = performance.now();
    if (!full) {
      if (loggedAt !== undefined) {
        log.info({ directory, waitedMs: Math.round(now - since) }, 'disk space available again');
      }
      return loggedAt !== undefined;
    }
    if (loggedAt === undefined || now - loggedAt >= logIntervalMs) {
      log.warn({ err: full, directory }, 'disk full, waiting for space');
      loggedAt = now;
    }
    await delay(pollIntervalMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Starts what may be able to start on a full disk, e.g. for reading; when it is not, waits for space and starts it then.
 *
 * @param isFull whether `start` failed because there is no space
 * @throws what `start` throws for any other reason, and what `awaitSpace` throws
 */
export async function startWithSpace<T>(
  directory: string,
  start: () => Promise<T>,
  { isFull, ...options }: AwaitSpaceOptions & { isFull: (error: unknown) => boolean },
): Promise<T> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      // With space on the disk something else is full, e.g. a limit of the database.
      if (!isFull(error) || !(await awaitSpace(directory, options))) {
        throw error;
      }
    }
  }
}

/** The error of a disk, or quota, that is full. */
async function fullDisk(directory: string): Promise<unknown> {
  try {
    await makeDataDirectory(directory);
    await writeProbe(join(directory, `space-${randomUUID()}.tmp`));
    return undefined;
  } catch (error) {
    if (!isDiskFull(error)) {
      throw error;
    }
    return error;
  }
}

async function writeProbe(file: string): Promise<void> {
  try {
    await writeFile(file, needed, { flag: 'wx', mode: 0o600 });
  } finally {
    await rm(file, { force: true });
  }
}
