import { compare, type Int } from '../int';
import { finish, rowsOfStep, sortedInSteps, type Steps } from '../steps';
import type { CacheType } from './options';
import type { View } from './view';

export interface RankedRow {
  row: Int;
  count: number;
}

/** How old counts may be before a query makes them again, in milliseconds (specification 3, B, endpoints, rule 5). */
const staleAfterMs = 10_000;

/**
 * The rows `TopN` chooses from, with their counts: `ranked`, the ones with most columns; `lru`, the ones written to last;
 * `none`, no rows. The counts are those of the last calculation: at most ten seconds old, or made new on demand.
 */
export class RowRanks {
  /** Rows of an `lru` cache, the ones written to last at the end. */
  private readonly recent = new Set<Int>();
  private ranking: readonly RankedRow[] = [];
  private calculatedAt: number | undefined;
  private isStale = true;
  private isCalculating = false;

  private readonly view: () => View | undefined;
  private readonly now: () => number;

  constructor(
    private readonly type: CacheType,
    private readonly size: number,
    { view, now = () => performance.now() }: { view: () => View | undefined; now?: () => number },
  ) {
    this.view = view;
    this.now = now;
  }

  /** A row was written to. */
  touch(row: Int): void {
    this.markStale();
    if (this.type !== 'lru') {
      return;
    }
    this.recent.delete(row);
    this.recent.add(row);
    if (this.recent.size > this.size) {
      for (const oldest of this.recent) {
        this.recent.delete(oldest);
        break;
      }
    }
  }

  /** A row lost columns. */
  markStale(): void {
    this.isStale = true;
  }

  /** The rows, those with most columns first. */
  *rows(): Steps<readonly RankedRow[]> {
    const { calculatedAt } = this;
    const isOld = calculatedAt === undefined || this.now() - calculatedAt >= staleAfterMs;
    // The counts of the last calculation are returned while another one is under way.
    if (this.isStale && isOld && (calculatedAt === undefined || !this.isCalculating)) {
      yield* this.calculation();
    }
    return this.ranking;
  }

  recalculate(): void {
    finish(this.calculation());
  }

  *calculation(): Steps<void> {
    this.isCalculating = true;
    // What is written from now on is in the next calculation.
    this.isStale = false;
    let ranking: readonly RankedRow[] | undefined;
    try {
      ranking = yield* this.ranked();
    } finally {
      this.isCalculating = false;
      this.isStale ||= ranking === undefined;
    }
    this.ranking = ranking;
    this.calculatedAt = this.now();
  }

  private *ranked(): Steps<readonly RankedRow[]> {
    const view = this.view();
    const rows = this.type === 'lru' ? this.recent : (view?.rows.keys() ?? []);
    const counted: RankedRow[] = [];
    if (view && this.type !== 'none') {
      for (const [at, row] of [...rows].entries()) {
        const count = view.row(row).size;
        if (count > 0) {
          counted.push({ row, count });
        }
        if (at % rowsOfStep === rowsOfStep - 1) {
          yield;
        }
      }
    }
    const ranking = yield* sortedInSteps(counted, byCount);
    ranking.length = Math.min(ranking.length, this.size);
    return ranking;
  }
}

/** Most columns first; rows with as many in the order of their ids. */
export const byCount = (a: RankedRow, b: RankedRow): number => b.count - a.count || compare(a.row, b.row);
