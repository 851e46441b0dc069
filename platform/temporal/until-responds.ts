import { setTimeout as delay } from 'node:timers/promises';

/** How long one call may take, in milliseconds. */
export const callMs = 2_000;
const everyMs = 50;

export interface ResponseWait {
  /** Bound in milliseconds; 0 tries once. */
  withinMs: number;
  /** Ends the wait early, with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Repeats a call of a namespace until it succeeds.
 *
 * @throws Error with the last failure as its cause when time is up
 */
export async function untilResponds(
  { address, namespace }: { address: string; namespace: string },
  { withinMs, signal }: ResponseWait,
  call: () => Promise<unknown>,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      await call();
      return;
    } catch (cause) {
      if (performance.now() >= deadline) {
        throw new Error(`The namespace ${namespace} at ${address} did not answer within ${withinMs} ms.`, { cause });
      }
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
