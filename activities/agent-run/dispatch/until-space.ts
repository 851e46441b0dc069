import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../../platform/log/log';
import { GitError } from '../../../providers/git/git-error';
import { isOutOfSpace } from '../../../stores/port/errors';

export interface UntilSpaceOptions {
  log: Pick<Log, 'warn' | 'info'>;
  /** Aborted when this worker ends: what waits then fails with what it waited for. */
  ending: AbortSignal;
  everyMs?: number;
}

/** Git's messages for a full disk, and for a quota that is used up. */
const outOfSpaceMessage = /No space left on device|Disk quota exceeded/;

/** Whether missing space is the only reason: it may be repeated unchanged. */
const needsSpace = (error: unknown): boolean =>
  isOutOfSpace(error) || (error instanceof GitError && outOfSpaceMessage.test(error.message));

/**
 * Retries what fails for lack of space, once a second, until there is space: for what cannot be left to a later try, such as an
 * agent's events and its end. What waits for it waits as well; an agent that prints is slowed down by that.
 *
 * @throws what `work` throws for any other reason, and for this one when the worker ends
 */
export async function untilSpace<T>(
  work: () => Promise<T>,
  { log, ending, everyMs = 1_000 }: UntilSpaceOptions,
): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    try {
      const value = await work();
      if (waits > 0) {
        log.info({ waits }, 'disk space available again');
      }
      return value;
    } catch (error) {
      if (!needsSpace(error) || ending.aborted) {
        throw error;
      }
      if (waits === 0) {
        log.warn({ err: error }, 'disk full, waiting for space');
      }
      await delay(everyMs, undefined, { signal: ending }).catch(() => undefined);
    }
  }
}
