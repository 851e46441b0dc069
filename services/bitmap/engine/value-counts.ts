import type { Int } from '../int';
import type { ColumnSet } from './column-set';
import { sortedValues, type ValueSource } from './sorted-values';

/** Fields with more values are not counted: it would take longer than it saves. */
const maxColumns = 20_000_000;
/** Changes are looked through one by one until there are as many; then they are merged. */
const maxChanges = 2_000;
/** So long others wait for a piece of the counting, in milliseconds. */
const pieceMs = 4;
/** Fewer values are counted at once. */
const fewValues = 20_000;
const valuesPerPiece = 65_536;

/**
 * How often each value of an integer field occurs, sorted, with running totals: what "how many are greater than" is
 * computed from with two binary searches instead of a walk over bitmaps.
 *
 * Large fields are counted in pieces while others are served. What changes meanwhile is recorded like every later change.
 */
export class ValueCounts {
  private readonly changes = new Map<number, number>();
  /** Ascending. */
  private values = new Float64Array();
  /** `before[i]`: how many columns have a value less than `values[i]`; one longer, so that its last is how many there are. */
  private before = new Uint32Array(1);
  private counting: Generator<void, void> | undefined;

  private constructor(source: ValueSource) {
    this.counting = this.count(source);
  }

  /** Undefined for a field that is too large, or has values that a number does not hold exactly. */
  static of({ columns, negative, slices }: ValueSource): ValueCounts | undefined {
    if (slices.length > 53 || columns.size > maxColumns) {
      return undefined;
    }
    const isSmall = columns.size <= fewValues;
    const copy = (set: ColumnSet): ColumnSet => (isSmall ? set : set.clone());
    const counts = new ValueCounts({ columns: copy(columns), negative: copy(negative), slices: slices.map(copy) });
    counts.continue(isSmall ? Infinity : 0);
    return counts;
  }

  /** No count can be read before. */
  get isReady(): boolean {
    return this.counting === undefined;
  }

  /** No query needs the counts any more. */
  abandon(): void {
    this.counting?.return();
  }

  private continue(forMs: number): void {
    const end = performance.now() + forMs;
    do {
      if (this.counting?.next().done === true) {
        this.counting = undefined;
        this.settle();
        return;
      }
    } while (performance.now() < end);
    setImmediate(() => this.continue(pieceMs));
  }

  private *count(source: ValueSource): Generator<void, void> {
    const sorted = yield* sortedValues(source);
    let different = 0;
    const values = new Float64Array(sorted.length);
    const before = new Uint32Array(sorted.length + 1);
    for (let from = 0; from < sorted.length; from += valuesPerPiece) {
      different = countPiece(sorted, from, { values, before, different });
      yield;
    }
    this.values = values.slice(0, different);
    this.before = before.slice(0, different + 1);
  }

  /** One column more, or less, has this value. */
  change(value: Int, by: 1 | -1): void {
    const key = Number(value);
    const count = (this.changes.get(key) ?? 0) + by;
    if (count === 0) {
      this.changes.delete(key);
    } else {
      this.changes.set(key, count);
    }
  }

  /** After a change, or several: shortens the list of changes. */
  settle(): void {
    if (this.isReady && this.changes.size > maxChanges) {
      this.merge();
    }
  }

  private merge(): void {
    const changed = [...this.changes].sort(([a], [b]) => a - b);
    this.changes.clear();
    const { values: old, before: oldBefore } = this;
    const values = new Float64Array(old.length + changed.length);
    const before = new Uint32Array(values.length + 1);
    let length = 0;
    const push = (value: number, count: number): void => {
      if (count <= 0) {
        return;
      }
      values[length] = value;
      before[length + 1] = (before[length] ?? 0) + count;
      length += 1;
    };
    let at = 0;
    const pushOldBelow = (limit: number): void => {
      for (; at < old.length && (old[at] ?? 0) < limit; at += 1) {
        push(old[at] ?? 0, (oldBefore[at + 1] ?? 0) - (oldBefore[at] ?? 0));
      }
    };
    for (const [value, by] of changed) {
      pushOldBelow(value);
      const isCounted = at < old.length && old[at] === value;
      push(value, by + (isCounted ? (oldBefore[at + 1] ?? 0) - (oldBefore[at] ?? 0) : 0));
      if (isCounted) {
        at += 1;
      }
    }
    pushOldBelow(Infinity);
    this.values = values.slice(0, length);
    this.before = before.slice(0, length + 1);
  }

  /** Where the first value is that is not less than `value`. */
  private search(value: Int): number {
    let low = 0;
    let high = this.values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.values[middle] ?? 0) < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** How many columns have a value in `from` to `to`, both inclusive. */
  between(from: Int, to: Int): number {
    if (from > to) {
      return 0;
    }
    let end = this.search(to);
    if (this.values[end] === to) {
      end += 1;
    }
    let count = (this.before[end] ?? 0) - (this.before[this.search(from)] ?? 0);
    for (const [value, by] of this.changes) {
      if (value >= from && value <= to) {
        count += by;
      }
    }
    return count;
  }

  min(): { value: Int; count: number } | undefined {
    return this.extreme(0, 1);
  }

  max(): { value: Int; count: number } | undefined {
    return this.extreme(this.values.length - 1, -1);
  }

  /** The first value from `start` on that a column still has, or one before it that is new. */
  private extreme(start: number, step: 1 | -1): { value: Int; count: number } | undefined {
    let first: { value: number; count: number } | undefined;
    for (let at = start; !first && at >= 0 && at < this.values.length; at += step) {
      const value = this.values[at] ?? 0;
      const count = (this.before[at + 1] ?? 0) - (this.before[at] ?? 0) + (this.changes.get(value) ?? 0);
      if (count > 0) {
        first = { value, count };
      }
    }
    for (const [value, count] of this.changes) {
      if (count > 0 && (!first || (value - first.value) * step < 0)) {
        first = { value, count };
      }
    }
    return first;
  }
}

interface Counted {
  values: Float64Array;
  before: Uint32Array;
  different: number;
}

/** Counts a piece of `sorted`; returns how many different values there are so far. */
function countPiece(sorted: Float64Array, from: number, { values, before, different }: Counted): number {
  const end = Math.min(from + valuesPerPiece, sorted.length);
  for (let at = from; at < end; at += 1) {
    const value = sorted[at] ?? 0;
    if (different === 0 || value !== values[different - 1]) {
      values[different++] = value;
    }
    before[different] = at + 1;
  }
  return different;
}
