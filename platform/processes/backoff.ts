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

/**
 * The failures in a row that still count after a part has served for a while: none once it counts as healthy, and
 * proportionally fewer before. A part that is killed every few seconds is not waited for as one that cannot start is.
 */
export function failuresAfterServing(failures: number, servedMs: number, healthyAfterMs: number): number {
  return Math.floor(failures * Math.max(0, 1 - servedMs / healthyAfterMs));
}
