import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../../platform/log/log';
import type { Bitmap } from '../bitmaps/bitmap';
import { type FrozenBitmaps, frozenBitmaps } from '../bitmaps/frozen';
import type { ColumnSet } from '../engine/column-set';
import { Copies, type Copy } from './copies';
import { combinations, count, type Counted, type SegmentWork } from './counting';
import { Pool, type Work } from './pool';
import { leavesOf, mapLeaves, type SetPlan } from './set-plan';

export interface ThreadOptions {
  /** How many threads there are at most; 0: none. */
  threads: number;
  log: Log;
  /** From how many milliseconds on work is worth being given away. */
  heavyMs?: number;
  /** Bytes of copies that are cached. */
  mostBytes?: number;
  /** Threads and copies go when there was nothing to do for so long. */
  idleMs?: number;
  /** What may be spent on copies at first, and saved up, in milliseconds. */
  creditMs?: number;
  /** The longest a piece that no thread does may take on the main thread, in milliseconds. */
  maxHereMs?: number;
  startThread?: () => Worker;
}

/** What is to be counted: see `SegmentWork`. At least one of both. */
export interface Asked {
  filter?: SetPlan<ColumnSet>;
  levels: readonly (readonly ColumnSet[])[];
  /** About how long it would take on the main thread. */
  costMs: number;
  /** When counting is given up, in milliseconds since 1970. */
  until: number;
}

/** Counts, for the rows `from` (inclusive) to `to` (exclusive) of the first level; without: for all. */
export type CountRows = (from?: number, to?: number) => Promise<Counted>;

interface SegmentCopies {
  filter?: SetPlan<Copy | undefined>;
  levels: readonly (readonly (Copy | undefined)[])[];
}

/** Of the time that work given away would have taken, so much may be spent on copies. */
const shareForCopies = 0.25;
/** More sets, or more combinations, are more to be sent than is worth it. */
export const maxSets = 4_096;
export const maxCombinations = 1_000_000;

const defaultMaxHereMs = 1_000;
const defaultCreditMs = 50;
const defaultMostBytes = 268_435_456;
const defaultIdleMs = 60_000;
/** Below it, sending and waiting for a turn cost more than they bring. */
const defaultHeavyMs = 5;

const script = join(__dirname, 'worker.js');
/** Threads allocate little: their memory is what they read, which is shared. */
const startWorker = (): Worker => new Worker(script, { resourceLimits: { maxYoungGenerationSizeMb: 4 } });

/**
 * Counts on other threads what would block the main thread for long. Sets are copied in the turn in which this is asked:
 * what is counted is what they are now, whatever is written meanwhile.
 */
export class Threads {
  private readonly copies: Copies;
  private readonly pool: Pool;
  private readonly heavyMs: number;
  private readonly maxHereMs: number;
  private readonly mostCredit: number;
  /** Milliseconds that may be spent on copies. */
  private credit: number;
  private givenAway = 0;

  private constructor(frozen: FrozenBitmaps, { threads, log, ...options }: ThreadOptions) {
    const { heavyMs = defaultHeavyMs, mostBytes: maxBytes = defaultMostBytes, idleMs = defaultIdleMs } = options;
    this.heavyMs = heavyMs;
    this.maxHereMs = options.maxHereMs ?? defaultMaxHereMs;
    this.mostCredit = this.credit = options.creditMs ?? defaultCreditMs;
    this.copies = new Copies(frozen, maxBytes);
    this.pool = new Pool({
      threads,
      log,
      idleMs,
      startThread: options.startThread ?? startWorker,
      countHere: (piece) => this.countHere(piece),
      onIdle: () => this.copies.clear(),
    });
  }

  /** Undefined where there are to be none. */
  static of(options: ThreadOptions): Threads | undefined {
    return options.threads > 0 ? new Threads(frozenBitmaps(), options) : undefined;
  }

  /** How many threads there are now. */
  get size(): number {
    return this.pool.size;
  }

  get copiedBytes(): number {
    return this.copies.bytes;
  }

  /** How often something was counted by threads, since the start. */
  get counted(): number {
    return this.givenAway;
  }

  /** Whether work that takes so long here is to be given away. */
  isHeavy(costMs: number): boolean {
    return costMs >= this.heavyMs && this.pool.isWorking;
  }

  /**
   * Lets threads count.
   *
   * Counts reject with CountExpiredError once it is too late.
   *
   * @param use is called at once, and may call what it is given until its promise is settled
   * @returns undefined where it is better counted by the caller: it is no work, or too much would have to be copied
   */
  count<T>(asked: Asked, use: (count: CountRows) => Promise<T>): Promise<T> | undefined {
    const { filter, levels, costMs } = asked;
    if (!this.isHeavy(costMs) || combinations(levels) > maxCombinations) {
      return undefined;
    }
    const sets = new Set([...(filter ? leavesOf(filter) : []), ...levels.flat()]);
    if (sets.size > maxSets || !this.refresh(sets, costMs)) {
      return undefined;
    }
    const segments = this.bySegment(asked, sets);
    if (segments.length === 0) {
      return undefined;
    }
    const held = [...sets].flatMap((set) => [...this.copies.of(set).values()]);
    for (const copy of held) {
      copy.hold();
    }
    // A set that is not stored is not counted again.
    for (const set of sets) {
      if (set.version === 0) {
        this.copies.forget(set);
      }
    }
    this.givenAway += 1;
    return use((from, to) => this.countSegments(segments, { from, to, until: asked.until })).finally(() => {
      for (const copy of held) {
        copy.release();
      }
    });
  }

  /** Ends the threads. What they have not counted by then is rejected. */
  async close(): Promise<void> {
    await this.pool.close();
    this.copies.clear();
  }

  private refresh(sets: ReadonlySet<ColumnSet>, costMs: number): boolean {
    this.credit = Math.min(this.credit + costMs * shareForCopies, Math.max(costMs, this.mostCredit));
    const began = performance.now();
    const isComplete = this.copies.refresh(sets, this.credit);
    this.credit -= performance.now() - began;
    if (!isComplete) {
      for (const set of sets) {
        if (set.version === 0) {
          this.copies.forget(set);
        }
      }
    }
    return isComplete;
  }

  private bySegment({ filter, levels }: Asked, sets: ReadonlySet<ColumnSet>): SegmentCopies[] {
    const segments = new Set([...sets].flatMap((set) => [...this.copies.of(set).keys()]));
    return [...segments].map((segment) => {
      const copyOf = (set: ColumnSet): Copy | undefined => this.copies.of(set).get(segment);
      return { filter: filter && mapLeaves(filter, copyOf), levels: levels.map((level) => level.map(copyOf)) };
    });
  }

  /** In as many pieces as there are threads without work. */
  private async countSegments(
    segments: readonly SegmentCopies[],
    { from, to, until }: { from: number | undefined; to: number | undefined; until: number },
  ): Promise<Counted> {
    const pieces = Math.min(Math.max(this.pool.idle, 1), segments.length);
    const counted = await Promise.all(
      Array.from({ length: pieces }, (_, piece) => {
        const part = segments.filter((_segment, at) => at % pieces === piece);
        const copies = new Map<number, Copy>();
        const work = part.map((segment) => workOf(segment, copies, { from, to }));
        return this.pool.run({ work, copies, until });
      }),
    );
    return added(counted);
  }

  private countHere({ work, copies, until }: Work): Counted {
    const bitmapOf = (id: number): Bitmap | undefined => {
      const copy = copies.get(id);
      return copy && this.copies.view(copy);
    };
    // Others wait meanwhile.
    return count(work, { bitmapOf, until: Math.min(until, Date.now() + this.maxHereMs) });
  }
}

/** Names copies by their numbers, and notes which they are. */
function workOf(
  { filter, levels }: SegmentCopies,
  copies: Map<number, Copy>,
  { from, to }: { from: number | undefined; to: number | undefined },
): SegmentWork {
  const id = (copy: Copy | undefined): number => {
    if (copy) {
      copies.set(copy.id, copy);
    }
    return copy?.id ?? 0;
  };
  return {
    filter: filter && mapLeaves(filter, id),
    levels: levels.map((level, at) => (at === 0 ? level.slice(from, to) : level).map(id)),
  };
}

/** The sum of all pieces. */
function added([first, ...rest]: readonly Counted[]): Counted {
  const sum = first ?? { size: 0, counts: new Float64Array() };
  for (const { size, counts } of rest) {
    sum.size += size;
    for (const [at, each] of counts.entries()) {
      sum.counts[at] = (sum.counts[at] ?? 0) + each;
    }
  }
  return sum;
}
