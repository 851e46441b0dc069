/** Hands out ids from 1 for texts, in order of first use, and never another one for the same text. */
export class KeyTable {
  /** Keys of one table: a Map has room for 2^24 entries. */
  static readonly most: number = 16_000_000;

  private readonly ids = new Map<string, number>();
  private readonly keys: string[] = [];

  get size(): number {
    return this.keys.length;
  }

  /** What is wrong with so many keys more, if anything. */
  refusalOf(more: number): string | undefined {
    return this.size + more > KeyTable.most ? `there are at most ${KeyTable.most} keys of one kind` : undefined;
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

/** So many keys, and characters of keys, are one change, and one part of a snapshot: each becomes one text. */
const most = { keys: 10_000, characters: 1_048_576 };

/** Keys in batches, with the id of the first one of each; a key may be longer than a batch. */
export function* keyBatches(
  keys: readonly string[],
  first: number,
): Generator<{ first: number; keys: readonly string[] }> {
  let from = 0;
  let characters = 0;
  for (let to = 1; to <= keys.length; to += 1) {
    characters += keys[to - 1]?.length ?? 0;
    const isLast = to === keys.length;
    if (isLast || to - from === most.keys || characters + (keys[to]?.length ?? 0) > most.characters) {
      yield { first: first + from, keys: keys.slice(from, to) };
      [from, characters] = [to, 0];
    }
  }
}
