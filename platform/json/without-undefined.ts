/** A copy without the fields that are `undefined`, which stores do not keep alike. */
export function withoutUndefined<T extends object>(record: T): T {
  const entries: [string, unknown][] = Object.entries(record);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T;
}
