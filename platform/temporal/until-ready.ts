import { setTimeout as delay } from 'node:timers/promises';

/** The gRPC status of an update for a workflow whose last task failed: e.g. with the worker that had it. */
const failedPrecondition = 9;

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Whether an error, or one that caused it, has a gRPC status. */
export function hasStatus(error: unknown, status: number): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && current.code === status) {
      return true;
    }
  }
  return false;
}

/**
 * Calls Temporal again while it refuses because a workflow is not ready: the worker that had its task has died, and the next
 * one has not polled it yet. Nothing was done by a call that was refused so.
 *
 * @param until when it stops trying, in milliseconds since 1970
 * @throws what the last call threw
 */
export async function untilReady<T>(call: () => Promise<T>, until: number): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await call();
    } catch (error) {
      if (!isNotReady(error) || Date.now() + pauseMs >= until) {
        throw error;
      }
    }
    await delay(pauseMs);
  }
}

export const isNotReady = (error: unknown): boolean => hasStatus(error, failedPrecondition);
