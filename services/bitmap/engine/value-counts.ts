import type { Int } from '../int';
import type { BitSlices } from './bit-slices';

/** Fields with more values are not counted: going through them would hold up everything else. */
const mostColumns = 20_000_000;
/** Changes are looked through one by one until there are as many; then they are merged. */
const mostChanges = 2_000;

/**
 * How often each value of an integer field occurs, sorted, with running totals: what "how many are greater than" is
 * answered from with two binary searches instead of a walk over bitmaps.
 */
export class ValueCounts {
  private readonly changes = new Map<number, number>();

  private constructor(
    /** Ascending. */
    private values: Float64Array,
    /** `before[i]`: how many columns have a value less than `values[i]`; one longer, so that its last is how many there are. */
    private before: Float64Array,
  ) {}

  /** Undefined for a field that is too large, or has values that a number does not hold exactly. */
  static of(slices: BitSlices): ValueCounts | undefined {
    if (slices.slices.length > 53 || slices.columns.size > mostColumns) return undefined;
    return ValueCounts.from(valuesOf(slices).sort());
  }

  private static from(sorted: Float64Array): ValueCounts {
    let different = 0;
    for (let at = 0; at < sorted.length; at += 1) if (at === 0 || sorted[at] !== sorted[at - 1]) different += 1;
    const values = new Float64Array(different);
    const before = new Float64Array(different + 1);
    let slot = -1;
    for (let at = 0; at < sorted.length; at += 1) {
      const value = sorted[at] ?? 0;
      if (at === 0 || value !== sorted[at - 1]) values[(slot += 1)] = value;
      before[slot + 1] = at + 1;
    }
    return new ValueCounts(values, before);
  }

  /** One column more, or less, has this value. */
  change(value: Int, by: 1 | -1): void {
    const key = Number(value);
    const count = (this.changes.get(key) ?? 0) + by;
    if (count === 0) this.changes.delete(key);
    else this.changes.set(key, count);
  }

  /** After a change, or several: keeps the list of changes short. */
  settle(): void {
    if (this.changes.size > mostChanges) this.merge();
  }

  private merge(): void {
    const changed = [...this.changes].sort(([a], [b]) => a - b);
    this.changes.clear();
    const { values: old, before: oldBefore } = this;
    const values = new Float64Array(old.length + changed.length);
    const before = new Float64Array(values.length + 1);
    let length = 0;
    const push = (value: number, count: number): void => {
      if (count <= 0) return;
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
      const known = at < old.length && old[at] === value;
      push(value, by + (known ? (oldBefore[at + 1] ?? 0) - (oldBefore[at] ?? 0) : 0));
      if (known) at += 1;
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
      if ((this.values[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many columns have a value in `from` to `to`, both inclusive. */
  between(from: Int, to: Int): number {
    if (from > to) return 0;
    let end = this.search(to);
    if (this.values[end] === to) end += 1;
    let count = (this.before[end] ?? 0) - (this.before[this.search(from)] ?? 0);
    for (const [value, by] of this.changes) if (value >= from && value <= to) count += by;
    return count;
  }

  min(): { value: Int; count: number } | undefined {
    if (this.changes.size > 0) this.merge();
    return this.at(0);
  }

  max(): { value: Int; count: number } | undefined {
    if (this.changes.size > 0) this.merge();
    return this.at(this.values.length - 1);
  }

  private at(slot: number): { value: Int; count: number } | undefined {
    const value = this.values[slot];
    return value === undefined ? undefined : { value, count: (this.before[slot + 1] ?? 0) - (this.before[slot] ?? 0) };
  }
}

/** All values, in the order of their columns. */
function valuesOf({ columns, negative, slices }: BitSlices): Float64Array {
  const values = new Float64Array(columns.size);
  let start = 0;
  for (const [page, offsets] of columns.offsets()) {
    slices.forEach((slice, bit) => {
      const power = 2 ** bit;
      eachIndex(offsets, slice.offsetsOfPage(page), (at) => (values[start + at] = (values[start + at] ?? 0) + power));
    });
    eachIndex(offsets, negative.offsetsOfPage(page), (at) => (values[start + at] = -(values[start + at] ?? 0)));
    start += offsets.length;
  }
  return values;
}

/** Where each of `some` is in `all`; both ascending, and `all` has them all. */
function eachIndex(all: Uint32Array, some: Uint32Array, visit: (index: number) => void): void {
  let at = 0;
  for (const offset of some) {
    while ((all[at] ?? offset) < offset) at += 1;
    visit(at);
  }
}
