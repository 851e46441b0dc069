import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log/log';
import { backoffMs } from '../processes/backoff';
import { currentOperation, type Operation } from './operation';

/** Writes that belong to a change that is stored already. */
export interface OwedWrites {
  /**
   * Does the write now; when it fails, again and again in the background. A running operation goes on meanwhile, and does not end
   * before the write is done or owed: it throws the failure in its end. Without one the failure is thrown at once.
   */
  write(what: string, write: () => Promise<unknown>): Promise<void>;
  /** Tries what is owed once more, and then drops it. */
  close(): Promise<void>;
}

const pauses = { firstMs: 200, maxMs: 5_000 };
/** More than this is not remembered: the existing entries cover most of it, and memory is bounded. */
const maxOwed = 10_000;

/**
 * Entries about changes (activity, audit) whose store failed after the change was made: they are written as soon as the
 * store can be written again. Each write must be one that may be done twice.
 */
export function createOwedWrites(log: Log): OwedWrites {
  const owed: { what: string; write: () => Promise<unknown> }[] = [];
  const ending = new AbortController();
  let paying: Promise<void> | undefined;

  async function payAll(): Promise<void> {
    for (let failures = 1; owed.length > 0 && !ending.signal.aborted; failures += 1) {
      await delay(backoffMs(failures, pauses), undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
      await payOnce();
    }
    paying = undefined;
  }

  /** Whether all of it could be written. */
  async function payOnce(): Promise<boolean> {
    for (;;) {
      const [next] = owed;
      if (!next) {
        return true;
      }
      try {
        await next.write();
        owed.shift();
        log.info({ what: next.what }, 'deferred write completed');
      } catch {
        return false;
      }
    }
  }

  async function writeOrOwe(
    what: string,
    write: () => Promise<unknown>,
    operation: Operation | undefined,
  ): Promise<void> {
    try {
      // What failed a moment ago would only be waited for again.
      if (operation?.hasDeferredFailure) {
        throw new Error('An earlier deferred write of the same change is pending.');
      }
      await write();
    } catch (error) {
      if (owed.length < maxOwed) {
        owed.push({ what, write });
      } else {
        log.error({ what }, 'deferred write lost: store not writable for too long');
      }
      paying ??= payAll();
      throw error;
    }
  }

  return {
    async write(what, write) {
      const operation = currentOperation();
      const written = writeOrOwe(what, write, operation);
      if (operation) {
        operation.noteRecording(written);
      } else {
        await written;
      }
    },
    async close() {
      ending.abort();
      await paying;
      if (!(await payOnce())) {
        log.error({ entries: owed.length }, 'deferred writes lost at shutdown');
      }
    },
  };
}
