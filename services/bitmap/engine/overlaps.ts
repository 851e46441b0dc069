import type { Int } from '../int';
import { containerWidth } from './column-list';
import type { ColumnSet } from './column-set';

/** Containers with fewer columns than this are counted fastest as they are, as lists. */
const fewColumns = 512;
/** Containers with more columns are bits already. */
const maxListed = 4_096;
/** For fewer rows it does not pay to make the complement of what they are compared with. */
const fewRows = 8;
/** Complements of wider rows would take more memory than they save time. */
const maxWidth = 2 ** 24;
/** Bytes of complements that are cached for the next query. */
const maxBytes = 16_777_216;
/** A complement that so many queries did not need is evicted for another. */
const unusedQueries = 100;

interface Kept {
  of: ColumnSet;
  version: number;
  complement: ColumnSet;
  usedBy: number;
}

interface Remembered {
  version: number;
  byRow: Map<Int, { of: ColumnSet; version: number; count: number }>;
}

/** How many counts are remembered, about 100 bytes each. */
const maxRemembered = 50_000;

/** Counts what a row shares with some columns. */
export type CountShared = (row: Int, own: ColumnSet) => number;

/** Cached counts of the rows that share columns with a stored one. */
export interface Recollection {
  of(row: Int, own: ColumnSet): number | undefined;
  /** Stores a count and the version of `own` that was counted. */
  add(row: Int, own: ColumnSet, counted: { version: number; count: number }): void;
}

/**
 * Counts what the rows of a field share with other sets of columns.
 *
 * A container of up to 4,096 columns is a list, a fuller one is bits, and two containers of bits are compared several
 * times faster than a list with anything. The complement of a row that is made of lists is made of bits, and is worth as
 * much: what a row shares with a set is what the set does not share with the row's complement. Complements are within
 * `width`, cached for the next query, and made again when their row has changed.
 *
 * What two stored rows share is remembered until one of them changes.
 */
export class Overlaps {
  /** The one that was used last is at the end. */
  private readonly kept = new Map<Int, Kept>();
  /** Complements are made of the columns below it. */
  private width = containerWidth;
  private query = 0;
  private remembered = new WeakMap<ColumnSet, Remembered>();
  private rememberedCounts = 0;

  /** @param rows about how many rows are going to be counted */
  with(columns: ColumnSet, rows: number): CountShared {
    this.query += 1;
    const recollection = this.recall(columns);
    if (!recollection) {
      return this.counting(columns, rows);
    }
    let counting: CountShared | undefined;
    return (row, own) => {
      const cached = recollection.of(row, own);
      if (cached !== undefined) {
        return cached;
      }
      counting ??= this.counting(columns, rows);
      const count = counting(row, own);
      recollection.add(row, own, { version: own.version, count });
      return count;
    };
  }

  /** What is remembered about these columns as they are now; undefined for what is not going to be asked about again. */
  recall(columns: ColumnSet): Recollection | undefined {
    // Unchanged since it was made: it is no stored row.
    if (columns.version === 0) {
      return undefined;
    }
    const { byRow } = this.rememberedOf(columns);
    return {
      of: (row, own) => {
        const cached = byRow.get(row);
        return cached?.of === own && cached.version === own.version ? cached.count : undefined;
      },
      add: (row, own, { version, count }) => {
        if (!byRow.has(row)) {
          this.rememberedCounts += 1;
        }
        byRow.set(row, { of: own, version, count });
      },
    };
  }

  private rememberedOf(columns: ColumnSet): Remembered {
    const cached = this.remembered.get(columns);
    if (cached?.version === columns.version) {
      return cached;
    }
    if (this.rememberedCounts > maxRemembered) {
      this.remembered = new WeakMap();
      this.rememberedCounts = 0;
    }
    const remembered: Remembered = { version: columns.version, byRow: new Map() };
    this.remembered.set(columns, remembered);
    return remembered;
  }

  private counting(columns: ColumnSet, rows: number): CountShared {
    const { size } = columns;
    const end = columns.extent()?.end;
    if (end === undefined || end > maxWidth) {
      return (_row, own) => own.countShared(columns);
    }
    this.widen(end);
    const complemented = (): ColumnSet | undefined =>
      rows >= fewRows && isListed(columns) ? columns.complementBelow(this.width) : undefined;
    let { width } = this;
    let others = complemented();
    return (row, own) => {
      const ownEnd = own.extent()?.end;
      if (ownEnd === undefined || ownEnd > maxWidth) {
        return own.countShared(columns);
      }
      this.widen(ownEnd);
      if (this.width !== width) {
        ({ width } = this);
        others = complemented();
      }
      const complement = this.complementOf(row, own);
      if (!complement) {
        return others ? own.size - own.countShared(others) : own.countShared(columns);
      }
      if (!others) {
        return size - columns.countShared(complement);
      }
      return own.size - (others.size - others.countShared(complement));
    };
  }

  /** Twice as wide as long as it is not wide enough, so that it happens rarely. */
  private widen(end: number): void {
    if (end <= this.width) {
      return;
    }
    while (this.width < end) {
      this.width *= 2;
    }
    this.kept.clear();
  }

  private complementOf(row: Int, own: ColumnSet): ColumnSet | undefined {
    const cached = this.kept.get(row);
    if (cached) {
      this.kept.delete(row);
    }
    if (cached?.of === own && cached.version === own.version) {
      cached.usedBy = this.query;
      this.kept.set(row, cached);
      return cached.complement;
    }
    if (!isListed(own) || !this.hasRoom()) {
      return undefined;
    }
    const complement = own.complementBelow(this.width);
    this.kept.set(row, { of: own, version: own.version, complement, usedBy: this.query });
    return complement;
  }

  private hasRoom(): boolean {
    const most = maxBytes / (this.width / 8);
    if (this.kept.size < most) {
      return true;
    }
    const [oldest] = this.kept;
    if (!oldest || oldest[1].usedBy >= this.query - unusedQueries) {
      return false;
    }
    this.kept.delete(oldest[0]);
    return this.kept.size < most;
  }
}

/** Whether the containers of a set are lists, and long enough that bits are counted faster. */
function isListed(columns: ColumnSet): boolean {
  const extent = columns.extent();
  if (!extent) {
    return false;
  }
  const containers = Math.ceil(extent.end / containerWidth) - Math.floor(extent.start / containerWidth);
  const each = columns.size / containers;
  return each >= fewColumns && each <= maxListed;
}
