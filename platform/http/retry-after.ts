/** No wait that another side asks for is longer than this, in milliseconds. */
const longestWaitMs = 3_600_000;

/** The header `Retry-After`, in milliseconds: seconds, or a date. `undefined` for what is neither. */
export function retryAfterMs(header: string | null | undefined, now: Date): number | undefined {
  if (header === null || header === undefined) {
    return undefined;
  }
  const text = header.trim();
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestWaitMs);
}
