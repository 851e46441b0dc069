import type { Bitmap } from '../bitmaps/bitmap';
import { Bitmaps } from '../bitmaps/kind';
import type { SetPlan } from './set-plan';

/**
 * What is counted in one segment: how many columns the combinations of one row of each level share with each other and
 * with the filter. Numbers are those of copies; 0 is a set without columns here.
 */
export interface SegmentWork {
  filter?: SetPlan<number>;
  levels: readonly (readonly number[])[];
}

export interface Counted {
  /** Columns of the filter. */
  size: number;
  /** One number for each combination; the rows of the last level follow each other. */
  counts: Float64Array<ArrayBuffer>;
}

type BitmapOf = (copy: number) => Bitmap | undefined;

/** How many combinations there are; none without levels. */
export const combinations = (levels: readonly { length: number }[]): number =>
  levels.length === 0 ? 0 : levels.reduce((product, { length }) => product * length, 1);

/** Counting took longer than it may. */
export class CountExpiredError extends Error {
  override readonly name = 'CountExpiredError';
}

/** What is counted with, and when that is given up, in milliseconds since 1970. */
interface CountOptions {
  bitmapOf: BitmapOf;
  until: number;
}

/**
 * Counts some segments, whose levels are of the same lengths, and adds them up.
 *
 * @throws CountExpiredError
 */
export function count(work: readonly SegmentWork[], options: CountOptions): Counted {
  const counted: Counted = { size: 0, counts: new Float64Array(combinations(work[0]?.levels ?? [])) };
  for (const segment of work) {
    new SegmentCount(options).count(segment, counted);
  }
  return counted;
}

/** Bitmaps that are made on the way are disposed of at once: collecting them would come late. */
class SegmentCount {
  private readonly made: Bitmap[] = [];

  private readonly bitmapOf: BitmapOf;
  private readonly until: number;

  constructor({ bitmapOf, until }: CountOptions) {
    this.bitmapOf = bitmapOf;
    this.until = until;
  }

  /** Before what may take long. */
  private assertInTime(): void {
    if (Date.now() >= this.until) {
      throw new CountExpiredError();
    }
  }

  count({ filter, levels }: SegmentWork, into: Counted): void {
    this.assertInTime();
    if (filter && levels.length === 0) {
      into.size += this.sizeOf(filter);
    } else {
      const within = filter && this.evaluate(filter);
      into.size += within?.size ?? 0;
      if (!filter || (within && !within.isEmpty)) {
        this.countLevels(levels, within, into);
      }
    }
    for (const bitmap of this.made) {
      bitmap.dispose?.();
    }
  }

  private countLevels(levels: SegmentWork['levels'], within: Bitmap | undefined, { counts }: Counted): void {
    const rows = levels.map((level) => level.map(this.bitmapOf));
    const descend = (level: number, columns: Bitmap | undefined, first: number): void => {
      const own = rows[level] ?? [];
      const isLast = level === rows.length - 1;
      this.assertInTime();
      own.forEach((row, at) => {
        if (!row) {
          return;
        }
        const place = first * own.length + at;
        if (isLast) {
          counts[place] = (counts[place] ?? 0) + (columns ? columns.andCardinality(row) : row.size);
          return;
        }
        const common = columns ? Bitmaps.and(columns, row) : row;
        if (!common.isEmpty) {
          descend(level + 1, common, place);
        }
        if (columns) {
          common.dispose?.();
        }
      });
    };
    descend(0, within, 0);
  }

  private sizeOf(plan: SetPlan<number>): number {
    if ('leaf' in plan || plan.operation !== 'intersect' || plan.of.length < 2) {
      return this.evaluate(plan)?.size ?? 0;
    }
    // The last operand is only counted.
    const left = this.evaluate({ operation: 'intersect', of: plan.of.slice(0, -1) });
    const [last] = plan.of.slice(-1);
    const right = left && last && this.evaluate(last);
    return right ? left.andCardinality(right) : 0;
  }

  /** Undefined for a set without columns; others may be without columns, too. */
  private evaluate(plan: SetPlan<number>): Bitmap | undefined {
    if ('leaf' in plan) {
      return this.bitmapOf(plan.leaf);
    }
    const { operation } = plan;
    if (operation === 'intersect') {
      let left: Bitmap | undefined;
      for (const one of plan.of) {
        const right = this.evaluate(one);
        if (!right) {
          return undefined;
        }
        left = left ? this.keep(Bitmaps.and(left, right)) : right;
      }
      return left;
    }
    const operands = plan.of.map((one) => this.evaluate(one));
    if (operation === 'difference' && !operands[0]) {
      return undefined;
    }
    const [first, ...rest] = operands.filter(isSet);
    if (!first || rest.length === 0) {
      return first;
    }
    if (operation === 'union') {
      return this.keep(Bitmaps.orMany([first, ...rest]));
    }
    const combine = operation === 'xor' ? 'xor' : 'andNot';
    return rest.reduce((left, right) => this.keep(Bitmaps[combine](left, right)), first);
  }

  private keep(bitmap: Bitmap): Bitmap {
    this.made.push(bitmap);
    return bitmap;
  }
}

const isSet = (bitmap: Bitmap | undefined): bitmap is Bitmap => bitmap !== undefined;
