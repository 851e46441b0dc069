/** How old a count may be that is not near its limit, in milliseconds. */
const freshMs = 250;
/** How many counts are remembered. */
const maxKnown = 10_000;

/**
 * A count that every launch reads and that takes the longer the higher it is. Below half of the limit that it is compared with,
 * a count of a moment ago will do, and each caller since is assumed to have added one; nearer to the limit it is counted each
 * time.
 */
export function recentCount(count: (key: string) => Promise<number>, now: () => number = Date.now) {
  const counts = new Map<string, { value: number; at: number }>();
  return async (key: string, limit: number): Promise<number> => {
    const recent = counts.get(key);
    const age = recent ? now() - recent.at : freshMs;
    if (recent && age < freshMs && age >= 0 && recent.value < limit / 2) {
      return recent.value++;
    }
    const value = await count(key);
    if (counts.size >= maxKnown) {
      counts.clear();
    }
    counts.set(key, { value: value + 1, at: now() });
    return value;
  };
}
