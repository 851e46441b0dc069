/**
 * A map that evicts the least recently used entry beyond `capacity` entries. For tens of them: finding the oldest of thousands
 * would pass over all that was moved or removed before it.
 */
export interface Lru<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
}

export function createLru<V>(capacity: number): Lru<V> {
  // A Map iterates in insertion order: re-inserting on every use leaves the one used longest ago in front.
  const entries = new Map<string, V>();
  const touch = (key: string, value: V): void => {
    entries.delete(key);
    entries.set(key, value);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) {
        touch(key, value);
      }
      return value;
    },
    set(key, value) {
      touch(key, value);
      if (entries.size <= capacity) {
        return;
      }
      const [oldest] = entries.keys();
      if (oldest !== undefined) {
        entries.delete(oldest);
      }
    },
  };
}
