/** What promises of stores open. */
type Opened<T extends Record<string, Promise<unknown>>> = { [K in keyof T]: Awaited<T[K]> };

/** Waits for stores that are being opened at the same time. @throws what the first one that cannot be opened threw */
export async function openTogether<T extends Record<string, Promise<unknown>>>(opening: T): Promise<Opened<T>> {
  const entries = await Promise.all(Object.entries(opening).map(async ([name, store]) => [name, await store] as const));
  return Object.fromEntries(entries) as Opened<T>;
}
