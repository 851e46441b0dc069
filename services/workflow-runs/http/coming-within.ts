import { setTimeout as delay } from 'node:timers/promises';

/** What comes within a time, in milliseconds; `undefined` when that is over before, and no timer is left either way. */
export async function comingWithin<T>(ms: number, coming: Promise<T>): Promise<T | undefined> {
  const pause = new AbortController();
  try {
    return await Promise.race([coming, delay(ms, undefined, { signal: pause.signal }).catch(() => undefined)]);
  } finally {
    pause.abort();
  }
}
