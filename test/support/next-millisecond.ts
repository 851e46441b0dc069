import { setImmediate } from 'node:timers/promises';

/** Returns once the clock shows another millisecond: what is written after it is newer than what was written before. */
export async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now;) {
    await setImmediate();
  }
}
