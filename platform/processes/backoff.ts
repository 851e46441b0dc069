/** Pauses that double from `firstMs` up to `maxMs`, in milliseconds. */
export interface Backoff {
  firstMs: number;
  maxMs: number;
}

/**
 * The pause after the n-th failure in a row (the first is 1): between half of the ceiling and all of it, so that
 * processes that failed together do not come back together.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}
