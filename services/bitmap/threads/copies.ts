import type { Bitmap } from '../bitmaps/bitmap';
import type { FrozenBitmaps } from '../bitmaps/frozen';
import { containerWidth } from '../engine/column-list';
import type { ColumnSet } from '../engine/column-set';
import { SharedMemory } from './shared-memory';

/** One segment of a set as it was once, in memory that all threads see. It never changes. */
export class Copy {
  private holders = 1;
  private outdated = false;

  constructor(
    /** From 1; never used again. */
    readonly id: number,
    /** Its location in memory. */
    readonly bytes: Uint8Array,
    private readonly free: () => void,
  ) {}

  /** No count needs it any more. */
  get isOutdated(): boolean {
    return this.outdated;
  }

  /** Retains its memory until `release`. */
  hold(): void {
    this.holders += 1;
  }

  release(): void {
    this.holders -= 1;
    if (this.holders === 0) {
      this.free();
    }
  }

  outdate(): void {
    this.outdated = true;
    this.release();
  }
}

interface Segments {
  copies: Map<number, Copy>;
  /** What has changed since it was copied. */
  stale: Set<number>;
  bytes: number;
}

/** Copies of sets, a segment at a time: made when they are asked for, and again after a change. */
export class Copies {
  /** The one that was used last is at the end. */
  private readonly sets = new Map<ColumnSet, Segments>();
  private memory: SharedMemory;
  private total = 0;
  private lastId = 0;

  /** @param mostBytes of copies that are cached */
  constructor(
    private readonly frozen: FrozenBitmaps,
    private readonly mostBytes: number,
  ) {
    this.memory = this.newMemory();
  }

  private newMemory(): SharedMemory {
    return new SharedMemory((size) => this.frozen.allocate(size));
  }

  get bytes(): number {
    return this.total;
  }

  view(copy: Copy): Bitmap {
    return this.frozen.view(copy.bytes);
  }

  /**
   * Copies what has changed in these sets since the last time.
   *
   * @returns whether everything is copied now: it may take longer than `withinMs`, or more memory than there is
   */
  refresh(sets: ReadonlySet<ColumnSet>, withinMs: number): boolean {
    const end = performance.now() + withinMs;
    let needed = 0;
    for (const set of sets) {
      needed += this.sets.get(set)?.bytes ?? estimatedBytes(set);
    }
    if (needed > this.mostBytes) {
      return false;
    }
    const isComplete = this.copyUntil(end, sets);
    return this.makeRoom(sets) && isComplete;
  }

  private copyUntil(end: number, sets: ReadonlySet<ColumnSet>): boolean {
    for (const set of sets) {
      const segments = this.segmentsOf(set);
      for (const segment of segments.stale) {
        if (performance.now() >= end) {
          return false;
        }
        this.copy(set, segment, segments);
        segments.stale.delete(segment);
      }
    }
    return true;
  }

  /** The copies of a set that `refresh` has copied, by segment. */
  of(set: ColumnSet): ReadonlyMap<number, Copy> {
    return this.sets.get(set)?.copies ?? new Map<number, Copy>();
  }

  forget(set: ColumnSet): void {
    const segments = this.sets.get(set);
    if (!segments) {
      return;
    }
    this.sets.delete(set);
    this.total -= segments.bytes;
    for (const copy of segments.copies.values()) {
      copy.outdate();
    }
  }

  clear(): void {
    for (const set of [...this.sets.keys()]) {
      this.forget(set);
    }
    // What is released later goes with the old one.
    this.memory = this.newMemory();
  }

  /** As the one that was used last. */
  private segmentsOf(set: ColumnSet): Segments {
    const changed = set.takeChangedSegments();
    const existing = this.sets.get(set);
    this.sets.delete(set);
    const segments = existing ?? { copies: new Map<number, Copy>(), stale: new Set(set.segments()), bytes: 0 };
    if (existing) {
      for (const segment of changed) {
        segments.stale.add(segment);
      }
    }
    this.sets.set(set, segments);
    return segments;
  }

  private copy(set: ColumnSet, segment: number, segments: Segments): void {
    const { memory } = this;
    const before = segments.copies.get(segment);
    segments.copies.delete(segment);
    let added = -(before?.bytes.length ?? 0);
    set.useSegment(segment, (bitmap) => {
      const size = this.frozen.sizeOf(bitmap);
      const room = memory.take(size);
      const bytes = room.subarray(0, size);
      this.frozen.freeze(bitmap, bytes);
      segments.copies.set(segment, new Copy((this.lastId += 1), bytes, () => memory.release(room)));
      added += size;
    });
    before?.outdate();
    segments.bytes += added;
    this.total += added;
  }

  /** Forgets what was not used for longest, except for these. */
  private makeRoom(except: ReadonlySet<ColumnSet>): boolean {
    while (this.total > this.mostBytes) {
      const [oldest] = this.sets.keys();
      if (!oldest || except.has(oldest)) {
        return false;
      }
      this.forget(oldest);
    }
    return true;
  }
}

/** Columns of a container that is a list take two bytes each, those of all others 8 KB together. */
const estimatedBytes = (set: ColumnSet): number => Math.min(2 * set.size, (set.containers * containerWidth) / 8);
