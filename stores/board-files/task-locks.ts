import { mkdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lock } from 'proper-lockfile';
import { AppError, errorMessage } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { errorCode } from './format/read-task-file';

export interface HeldLock {
  /** Throws when this process was stopped for so long that others took the lock over. */
  assertHeld(): void;
}

export interface TaskLocks {
  /**
   * Runs `work` while no other work on the same task runs, in this process or in any other that shares the board
   * directory, on any host.
   *
   * @throws AppError 503 `TASK_BUSY` when another process does not release it within 8 s
   */
  exclusive<T>(id: string, work: (held: HeldLock) => Promise<T>): Promise<T>;
  /** Runs `work` on a task that no other process can know yet, and so without its lock: its id was generated just now. */
  exclusiveHere<T>(id: string, work: (held: HeldLock) => Promise<T>): Promise<T>;
  /** Whether work on the task is under way or waiting in this process. */
  isLocked(id: string): boolean;
  /** Identifies the work on the task that came last in this process; `undefined` when there is none. */
  lastWork(id: string): unknown;
  /** Resolves when no work is under way. */
  idle(): Promise<void>;
}

/** A dead process's lock is taken over after this; a living one refreshes its lock twice in this time. */
const staleMs = 4_000;
const waitMs = 8_000;
/** A lock of this moment may be dated up to a second and some milliseconds ahead, by which the precision of the file system's times is found. */
const tickMs = 2_000;

/** Where locks are in a board directory. */
export const lockFolder = '.locks';

/** Locks of tasks in the folder `<boardDir>/.locks`, one short-lived folder per locked task. */
export function createTaskLocks(boardDir: string, log: Log): TaskLocks {
  const folder = join(boardDir, lockFolder);
  /** The last work queued per task: in this process work is done in the order it came. */
  const queues = new Map<string, Promise<unknown>>();

  async function locked<T>(id: string, work: (held: HeldLock) => Promise<T>): Promise<T> {
    let lost: Error | undefined;
    const release = await acquire(folder, id, (error) => (lost = error));
    try {
      return await work({
        assertHeld: () => {
          if (lost) {
            throw busy(id);
          }
        },
      });
    } finally {
      await release().catch((error: unknown) => log.warn({ taskId: id, error: errorMessage(error) }, 'task lock lost'));
    }
  }

  function queued<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = queues.get(id) ?? Promise.resolve();
    const result = before.then(work);
    const settled = result.then(noop, noop).then(() => {
      if (queues.get(id) === settled) {
        queues.delete(id);
      }
    });
    queues.set(id, settled);
    return result;
  }

  return {
    exclusive: (id, work) => queued(id, () => locked(id, work)),
    exclusiveHere: (id, work) => queued(id, () => work({ assertHeld: noop })),
    isLocked: (id) => queues.has(id),
    lastWork: (id) => queues.get(id),
    idle: async () => {
      while (queues.size > 0) {
        await Promise.all(queues.values());
      }
    },
  };
}

const noop = (): void => undefined;

async function acquire(folder: string, id: string, onLost: (error: Error) => void): Promise<() => Promise<void>> {
  const path = join(folder, `${id}.lock`);
  const deadline = performance.now() + waitMs;
  let ahead: AheadOfClock | undefined;
  for (;;) {
    try {
      return await lock(path, { lockfilePath: path, realpath: false, stale: staleMs, onCompromised: onLost });
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT') {
        await mkdir(folder, { recursive: true });
      } else if (code !== 'ELOCKED') {
        throw error;
      }
    }
    ahead = await releaseAhead(path, ahead);
    if (performance.now() > deadline) {
      throw busy(id);
    }
    // Random, so that processes waiting for the same lock do not retry in step.
    await delay(2 + Math.random() * 18);
  }
}

/** A lock whose last refresh is later than now, and since when it is seen so. */
interface AheadOfClock {
  mtimeMs: number;
  sinceMs: number;
}

/**
 * Lets a lock be taken over that was left by a dead process before the clock was set back: its age means nothing until the clock
 * has caught up, so that it is dead when it is not refreshed while we wait. A living holder refreshes it by the clock as it is now.
 */
async function releaseAhead(path: string, before: AheadOfClock | undefined): Promise<AheadOfClock | undefined> {
  const mtimeMs = (await stat(path).catch(() => undefined))?.mtimeMs;
  if (mtimeMs === undefined || mtimeMs <= Date.now() + tickMs) {
    return undefined;
  }
  if (before?.mtimeMs !== mtimeMs) {
    return { mtimeMs, sinceMs: performance.now() };
  }
  if (performance.now() - before.sinceMs > staleMs) {
    const old = new Date(Date.now() - 2 * staleMs);
    await utimes(path, old, old).catch(noop);
  }
  return before;
}

const busy = (id: string): AppError =>
  new AppError('TASK_BUSY', {
    status: 503,
    message: `Another process holds the lock of ${id}. Try again in a few seconds.`,
    details: { resourceType: 'task', resourceId: id },
  });
