/** A caller's quota in the current window. */
export interface WindowStanding {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the window ends. */
  resetAtMs: number;
}

export interface FixedWindow {
  hit(key: string): WindowStanding;
}

export interface FixedWindowOptions {
  limit: number;
  windowMs: number;
  /** How many callers are remembered; beyond it the one seen first is forgotten. */
  maxKeys: number;
  now: () => number;
}

/**
 * Counts calls per key in windows that end for all keys at once, so that dropping them is one `clear`. A caller may spend the
 * end of one window and the start of the next at once; a limit that must not bend needs another counter.
 */
export function createFixedWindow({ limit, windowMs, maxKeys, now }: FixedWindowOptions): FixedWindow {
  const counts = new Map<string, number>();
  let resetAtMs = 0;
  return {
    hit(key) {
      const time = now();
      if (time >= resetAtMs) {
        counts.clear();
        resetAtMs = time + windowMs;
      }
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (counts.size > maxKeys) {
        counts.delete(counts.keys().next().value ?? key);
      }
      return { allowed: count <= limit, limit, remaining: Math.max(0, limit - count), resetAtMs };
    },
  };
}
