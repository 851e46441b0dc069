/** The value below which a share of the samples lies; `share` from 0 to 1. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Runs `work` for each number below `times`, at most `atOnce` at a time. */
export async function inParallel(times: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < times; n = next++) {
      await work(n);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, lane));
}
