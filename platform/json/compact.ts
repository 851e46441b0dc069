/** The same, with each field optional that may be `undefined`. */
type Compacted<T> = T extends unknown
  ? { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
      [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
    }
  : never;

/** A copy without the fields that are `undefined`, which stores, JSON and spreads do not treat alike. */
export function compact<T extends object>(fields: T): Compacted<T> {
  const entries: [string, unknown][] = Object.entries(fields);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Compacted<T>;
}
