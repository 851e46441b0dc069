const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 30 * units.d;

/** Milliseconds of `250ms`, `30s`, `5m`, `2h` or `1d`, at most thirty days; `undefined` for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  if (number === undefined || unit === undefined) {
    return undefined;
  }
  const milliseconds = Number(number) * units[unit as keyof typeof units];
  return milliseconds > 0 && milliseconds <= longestMs ? milliseconds : undefined;
}
