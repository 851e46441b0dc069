import { ColumnSet } from '../engine/column-set';
import { CallError } from './errors';

/** What one query may take. */
export interface QueryLimits {
  /** How long it may take, in milliseconds; and one that writes, which nothing interrupts. */
  ms: number;
  writeMs: number;
  /** Combinations that `GroupBy` answers, and the fields that it combines. */
  groups: number;
  levels: number;
  /** Bytes of its answer, about; and of the sets that it makes on the way and still needs. */
  answerBytes: number;
  memoryBytes: number;
  /** Shards that it is limited to. */
  shards: number;
}

export const defaultLimits: QueryLimits = {
  ms: 30_000,
  writeMs: 2_000,
  groups: 100_000,
  levels: 16,
  answerBytes: 134_217_728,
  memoryBytes: 1_073_741_824,
  shards: 65_536,
};

/** What a query has taken of its limits so far. */
export class Budget {
  private answer = 0;
  private memory = 0;
  private readonly sets = new Map<ColumnSet, number>();

  constructor(readonly limits: QueryLimits) {}

  /** @throws CallError when the answer gets too large with so many bytes more */
  answerWith(bytes: number, at: number): void {
    this.answer += bytes;
    if (this.answer > this.limits.answerBytes) {
      throw new CallError(
        `the answer has more than ${this.limits.answerBytes} bytes; ask for a part of it with limit, n, previous or shards`,
        at,
      );
    }
  }

  /**
   * Counts a set that the query has made, until it is dropped.
   *
   * @param from sets that it was made from, and that are not needed any more
   * @throws CallError when it holds too much
   */
  made(set: ColumnSet, at: number, from: readonly ColumnSet[] = []): ColumnSet {
    if (!this.sets.has(set)) {
      const { bytes } = set;
      this.sets.set(set, bytes);
      this.memory += bytes;
    }
    if (this.memory > this.limits.memoryBytes) {
      throw new CallError(`the query holds more than ${this.limits.memoryBytes} bytes of columns at a time`, at);
    }
    for (const one of from) {
      this.drop(one);
    }
    return set;
  }

  /** A set is not needed any more; stored ones were never counted. */
  drop(set: ColumnSet): void {
    this.memory -= this.sets.get(set) ?? 0;
    this.sets.delete(set);
  }

  /** @throws CallError for more shards than a query may be limited to */
  shards(shards: readonly number[], at: number): ColumnSet {
    if (shards.length > this.limits.shards) {
      throw new CallError(`a query is limited to at most ${this.limits.shards} shards`, at);
    }
    return ColumnSet.ofShards(shards);
  }
}
