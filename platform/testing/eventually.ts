import { setTimeout as delay } from 'node:timers/promises';

const growth = 1.25;

/**
 * Repeats `check` until it returns (or resolves) without throwing, and returns its result. The pauses become longer, to eight times
 * the first: a check that waits for seconds costs the processes that it waits for no time on the processor.
 *
 * @param options.withinMs how long it may take, in milliseconds; the check runs at least once
 * @param options.everyMs the first pause between two checks, in milliseconds
 * @throws Error with the last failure as its `cause` when time is up
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 120_000, everyMs = 25 }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = everyMs; ; pauseMs = Math.min(pauseMs * growth, everyMs * 8)) {
    try {
      return await check();
    } catch (cause) {
      if (performance.now() >= deadline) {
        const last = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`Still failing after ${withinMs} ms: ${last}`, { cause });
      }
    }
    await delay(pauseMs);
  }
}
