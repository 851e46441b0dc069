import { add, bitLength, compare, type Int, maxInt64, minInt64, multiply, negate, subtract, toInt } from '../int';
import type { Steps } from '../steps';
import { ColumnSet, noColumns } from './column-set';
import { ValueCounts } from './value-counts';

/** Containers of all slices, at most, that one step goes through: a few milliseconds. */
const containersOfStep = 4_096;

export type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!=';

export interface ValueCount {
  value: Int;
  count: number;
}

/** Bit `bit` of a magnitude. */
const hasBit = (magnitude: Int, bit: number): boolean =>
  typeof magnitude === 'number' ? Math.floor(magnitude / 2 ** bit) % 2 === 1 : ((magnitude >> BigInt(bit)) & 1n) === 1n;

const powerOfTwo = (bit: number): Int => toInt(1n << BigInt(bit));

/**
 * One integer for each of many columns, as bitmaps: which columns have one, which of them a negative one, and one bitmap
 * for each binary digit of the magnitude. Values are any signed 64-bit integer; the slices grow with the largest.
 */
export class BitSlices {
  readonly columns = new ColumnSet();
  readonly negative = new ColumnSet();
  readonly slices: ColumnSet[] = [];
  /** The sum of all values, updated by every change. */
  private total: Int = 0;
  /** Begun when first requested, then updated by every change. */
  private counts: ValueCounts | undefined;

  /** Whether comparisons are counted without bitmaps by now. */
  get isCounted(): boolean {
    return this.counts?.isReady === true;
  }

  /** Whether whatever is done with all values takes no longer than a step may. */
  get isSmall(): boolean {
    return this.columns.containers * this.slices.length <= containersOfStep;
  }

  /** Has the values counted in pieces, while others are served. */
  beginCounting(): void {
    this.readyCounts();
  }

  /**
   * Collects columns a segment at a time where that is much work: each column is judged by its value when its turn comes.
   *
   * @param judge the columns, of those in `part` when it is given, that belong to the result
   */
  *inSteps(within: ColumnSet | undefined, judge: (part?: ColumnSet) => ColumnSet): Steps<ColumnSet> {
    if (this.isSmall) {
      return judge(within);
    }
    const parts: ColumnSet[] = [];
    for (const part of this.candidates(within).bySegment()) {
      parts.push(judge(part));
      yield;
    }
    return ColumnSet.union(parts);
  }

  /** Adds up, or compares, what the segments of some columns come to. */
  *valueInSteps(within: ColumnSet | undefined, which: 'sum' | 'min' | 'max'): Steps<ValueCount> {
    if (this.isSmall || (!within && (which === 'sum' || this.isCounted))) {
      return this[which](within);
    }
    this.beginCounting();
    let all: ValueCount = { value: 0, count: 0 };
    for (const part of this.candidates(within).bySegment()) {
      all = together(all, this[which](part), which);
      yield;
    }
    return all;
  }

  /** The counts of all values when they are ready; until then the slices are counted. */
  private readyCounts(): ValueCounts | undefined {
    this.counts ??= ValueCounts.of(this);
    return this.counts?.isReady === true ? this.counts : undefined;
  }

  private dropCounts(): void {
    this.counts?.abandon();
    this.counts = undefined;
  }

  get(column: Int): Int | undefined {
    if (!this.columns.has(column)) {
      return undefined;
    }
    let magnitude: Int = 0;
    this.slices.forEach((slice, bit) => {
      if (slice.has(column)) {
        magnitude = add(magnitude, powerOfTwo(bit));
      }
    });
    return this.negative.has(column) ? negate(magnitude) : magnitude;
  }

  /** Whether the column had another value, or none, before. */
  set(column: Int, value: Int): boolean {
    const before = this.get(column);
    if (before === value) {
      return false;
    }
    const magnitude = value < 0 ? negate(value) : value;
    this.grow(bitLength(magnitude));
    this.columns.add(column);
    if (value < 0) {
      this.negative.add(column);
    } else {
      this.negative.remove(column);
    }
    this.slices.forEach((slice, bit) => (hasBit(magnitude, bit) ? slice.add(column) : slice.remove(column)));
    this.total = add(this.total, subtract(value, before ?? 0));
    if (before !== undefined) {
      this.counts?.change(before, -1);
    }
    this.counts?.change(value, 1);
    this.counts?.settle();
    return true;
  }

  /** Sets many at once; of a column that is named twice the last value counts. */
  setMany(columns: readonly Int[], values: readonly Int[]): void {
    const columnSet = ColumnSet.of(columns);
    if (columnSet.size < columns.length) {
      const last = new Map(columns.map((column, at) => [column, values[at] ?? 0]));
      this.setMany([...last.keys()], [...last.values()]);
      return;
    }
    this.clear(columnSet);
    const negative: Int[] = [];
    const ones: Int[][] = [];
    let total: Int = 0;
    for (const at of inOrder(columns)) {
      const [column, value] = [columns[at] ?? 0, values[at] ?? 0];
      total = add(total, value);
      if (value < 0) {
        negative.push(column);
      }
      addOnes(ones, column, value < 0 ? negate(value) : value);
    }
    this.grow(ones.length);
    this.columns.addAll(columnSet);
    this.negative.addMany(negative);
    ones.forEach((list, bit) => this.slices[bit]?.addMany(list));
    this.total = add(this.total, total);
    if (this.counts) {
      for (const value of values) {
        this.counts.change(value, 1);
      }
      this.counts.settle();
    }
  }

  /** Takes the values of these columns away; whether one had any. */
  clear(columns: ColumnSet): boolean {
    const cleared = this.columns.and(columns);
    if (cleared.isEmpty) {
      return false;
    }
    this.total = subtract(this.total, this.sum(cleared).value);
    if (this.counts) {
      if (cleared.size > 10_000) {
        this.dropCounts();
      } else {
        for (const column of cleared.toArray()) {
          this.counts.change(this.get(column) ?? 0, -1);
        }
      }
    }
    for (const set of [this.columns, this.negative, ...this.slices]) {
      set.removeAll(cleared);
    }
    return true;
  }

  /** Grows the capacity to magnitudes of so many bits. */
  grow(bits: number): void {
    while (this.slices.length < bits) {
      this.slices.push(new ColumnSet());
    }
    if (bits > 53) {
      this.dropCounts();
    }
  }

  /** The columns with a value, of those in `within` when it is given. */
  private candidates(within: ColumnSet | undefined): ColumnSet {
    return within ? this.columns.and(within) : this.columns;
  }

  /** Those of `candidates` whose magnitude is less than, equal to and greater than `magnitude`. */
  private split(candidates: ColumnSet, magnitude: Int, sides: { less?: boolean; greater?: boolean }) {
    const less: ColumnSet[] = [];
    const greater: ColumnSet[] = [];
    if (bitLength(magnitude) > this.slices.length) {
      return { less: candidates, equal: noColumns, greater: noColumns };
    }
    let equal = candidates;
    for (let bit = this.slices.length - 1; bit >= 0 && !equal.isEmpty; bit -= 1) {
      const slice = this.slices[bit] ?? noColumns;
      if (hasBit(magnitude, bit)) {
        if (sides.less) {
          less.push(equal.andNot(slice));
        }
        equal = equal.and(slice);
      } else {
        if (sides.greater) {
          greater.push(equal.and(slice));
        }
        equal = equal.andNot(slice);
      }
    }
    return { less: ColumnSet.union(less), equal, greater: ColumnSet.union(greater) };
  }

  private below(candidates: ColumnSet, value: Int, orEqual: boolean): ColumnSet {
    const negative = candidates.and(this.negative);
    if (value < 0) {
      const { equal, greater } = this.split(negative, negate(value), { greater: true });
      return orEqual ? equal.or(greater) : greater;
    }
    const { less, equal } = this.split(candidates.andNot(this.negative), value, { less: true });
    return ColumnSet.union(orEqual ? [negative, less, equal] : [negative, less]);
  }

  private equal(candidates: ColumnSet, value: Int): ColumnSet {
    const sameSign = value < 0 ? candidates.and(this.negative) : candidates.andNot(this.negative);
    return this.split(sameSign, value < 0 ? negate(value) : value, {}).equal;
  }

  /** The columns whose value compares so with `value`, of those in `within` when it is given. */
  compare(comparison: Comparison, value: Int, within?: ColumnSet): ColumnSet {
    const candidates = this.candidates(within);
    switch (comparison) {
      case '==':
        return this.equal(candidates, value);
      case '!=':
        return candidates.andNot(this.equal(candidates, value));
      case '<':
        return this.below(candidates, value, false);
      case '<=':
        return this.below(candidates, value, true);
      case '>':
        return candidates.andNot(this.below(candidates, value, true));
      case '>=':
        return candidates.andNot(this.below(candidates, value, false));
    }
  }

  /** The columns whose value is in `from` to `to`, both inclusive. */
  between(from: Int, to: Int, within?: ColumnSet): ColumnSet {
    if (compare(from, to) > 0) {
      return noColumns;
    }
    return this.compare('<=', to, this.compare('>=', from, within));
  }

  /** How many values are in `from` to `to`, both inclusive. Needs no bitmap once the values are counted. */
  countBetween(from: Int, to: Int): number {
    return this.readyCounts()?.between(from, to) ?? this.between(from, to).size;
  }

  /** Sum and number of the values, of the columns in `within` when it is given. */
  sum(within?: ColumnSet): ValueCount {
    if (!within) {
      return { value: this.total, count: this.columns.size };
    }
    const candidates = this.candidates(within);
    const negative = candidates.and(this.negative);
    const hasNegative = !negative.isEmpty;
    let value: Int = 0;
    this.slices.forEach((slice, bit) => {
      const ones = candidates.countShared(slice) - (hasNegative ? 2 * negative.countShared(slice) : 0);
      value = add(value, multiply(ones, powerOfTwo(bit)));
    });
    return { value, count: candidates.size };
  }

  /** The smallest value and how many columns have it; 0 and 0 when there is none. */
  min(within?: ColumnSet): ValueCount {
    const extreme = within ? undefined : this.extreme('min');
    if (extreme) {
      return extreme;
    }
    const candidates = this.candidates(within);
    const negative = candidates.and(this.negative);
    return negative.isEmpty ? this.smallest(candidates) : negated(this.largest(negative));
  }

  /** The largest value and how many columns have it; 0 and 0 when there is none. */
  max(within?: ColumnSet): ValueCount {
    const extreme = within ? undefined : this.extreme('max');
    if (extreme) {
      return extreme;
    }
    const candidates = this.candidates(within);
    const positive = candidates.andNot(this.negative);
    return positive.isEmpty ? negated(this.smallest(candidates)) : this.largest(positive);
  }

  private extreme(which: 'min' | 'max'): ValueCount | undefined {
    return this.readyCounts()?.[which]();
  }

  private largest(candidates: ColumnSet): ValueCount {
    let best = candidates;
    let value: Int = 0;
    for (let bit = this.slices.length - 1; bit >= 0; bit -= 1) {
      const ones = best.and(this.slices[bit] ?? noColumns);
      if (ones.isEmpty) {
        continue;
      }
      best = ones;
      value = add(value, powerOfTwo(bit));
    }
    return { value, count: best.size };
  }

  private smallest(candidates: ColumnSet): ValueCount {
    let best = candidates;
    let value: Int = 0;
    for (let bit = this.slices.length - 1; bit >= 0 && !best.isEmpty; bit -= 1) {
      const zeros = best.andNot(this.slices[bit] ?? noColumns);
      if (zeros.isEmpty) {
        value = add(value, powerOfTwo(bit));
      } else {
        best = zeros;
      }
    }
    return { value, count: best.size };
  }

  /**
   * After its sets were loaded from a snapshot. They were written one after the other during changes: a column that got its
   * first value meanwhile may have digits and no value, which is in the log.
   */
  recount(): void {
    this.dropCounts();
    for (const set of [this.negative, ...this.slices]) {
      set.removeAll(set.andNot(this.columns));
    }
    this.total = this.sum(this.columns).value;
  }

  compact(): void {
    for (const set of [this.columns, this.negative, ...this.slices]) {
      set.compact();
    }
  }
}

/** Where the columns are, from the lowest on: each list of digits is then in order, and none has to be sorted. */
function inOrder(columns: readonly Int[]): Iterable<number> {
  if (columns.every((column, at) => at === 0 || (columns[at - 1] ?? 0) < column)) {
    return columns.keys();
  }
  return Uint32Array.from(columns.keys()).sort((a, b) => compare(columns[a] ?? 0, columns[b] ?? 0));
}

/** Adds a column to the list of every digit that is one in a magnitude. */
function addOnes(ones: Int[][], column: Int, magnitude: Int): void {
  const isNumber = typeof magnitude === 'number';
  const halves = isNumber
    ? [magnitude % 2 ** 32, Math.floor(magnitude / 2 ** 32)]
    : [Number(magnitude & 0xffffffffn), Number(magnitude >> 32n)];
  for (const [at, half] of halves.entries()) {
    // The lowest one is taken away until there is none.
    for (let rest = half | 0; rest !== 0; rest &= rest - 1) {
      (ones[32 * at + 31 - Math.clz32(rest & -rest)] ??= []).push(column);
    }
  }
}

/** What two parts with values come to. */
function together(a: ValueCount, b: ValueCount, which: 'sum' | 'min' | 'max'): ValueCount {
  if (which === 'sum') {
    return { value: add(a.value, b.value), count: a.count + b.count };
  }
  if (a.count === 0 || b.count === 0) {
    return a.count === 0 ? b : a;
  }
  const order = which === 'min' ? compare(a.value, b.value) : compare(b.value, a.value);
  return order === 0 ? { value: a.value, count: a.count + b.count } : order < 0 ? a : b;
}

const negated = ({ value, count }: ValueCount): ValueCount => ({ value: negate(value), count });

/** A range as wide as values can be, for a border that is left open. */
export const widest = { from: toInt(minInt64), to: toInt(maxInt64) };
