/** Hands out ids from 1 for texts, in order of first use, and never another one for the same text. */
export class KeyTable {
  private readonly ids = new Map<string, number>();
  private readonly keys: string[] = [];

  get size(): number {
    return this.keys.length;
  }

  id(key: string): number | undefined {
    return this.ids.get(key);
  }

  key(id: number | bigint): string | undefined {
    return this.keys[Number(id) - 1];
  }

  /** The ids of these keys from `first` on: where they are known already, nothing changes. */
  load(first: number, keys: readonly string[]): void {
    for (const [at, key] of keys.entries()) {
      this.ids.set(key, first + at);
      this.keys[first + at - 1] = key;
    }
  }

  /** All keys, in the order of their ids. */
  all(): readonly string[] {
    return this.keys;
  }
}
