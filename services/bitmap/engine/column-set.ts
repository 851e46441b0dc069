import type { Bitmap } from '../bitmaps/bitmap';
import { Bitmaps } from '../bitmaps/kind';
import type { Int } from '../int';
import { ChangedSegments } from './changed-segments';
import {
  columnAt,
  type ColumnList,
  columnList,
  containerWidth,
  exactPages,
  offsetOf,
  pageOf,
  pageWidth,
} from './column-list';
import { addSegments, pageOfSegment, partOfSegment, shardWidth, useSegmentOf } from './segments';

/** Of a bitmap that is not empty. */
function maxContainers(bitmap: Bitmap): number {
  const width = Math.floor(bitmap.maximum() / containerWidth) - Math.floor(bitmap.minimum() / containerWidth) + 1;
  return Math.min(width, bitmap.size);
}

type Operation = 'and' | 'or' | 'xor' | 'andNot';

/**
 * A set of columns, ids up to 2^63 - 1. One native bitmap holds the columns of 4,096 shards, so that an operation on a
 * hundred million columns is one call and not a loop over shards.
 *
 * `add`, `remove` and the other methods that change it are marked so; everything else makes a new set and leaves both operands
 * alone. A set that a query has as its result may be one that is stored: it is read and never changed.
 */
export class ColumnSet {
  private changes = 0;
  /** Containers, as they were counted at a version. */
  private counted = 0;
  private countedAt = -1;
  private readonly changed = new ChangedSegments();

  constructor(private readonly pages = new Map<number, Bitmap>()) {}

  /** Another number after every change. */
  get version(): number {
    return this.changes;
  }

  static of(columns: readonly Int[]): ColumnSet {
    const set = new ColumnSet();
    set.addMany(columns);
    return set;
  }

  /** Columns of one page, in the portable format. */
  static ofPage(page: number, bytes: Uint8Array): ColumnSet {
    const set = new ColumnSet();
    set.load(page, bytes);
    return set;
  }

  /** The columns of these shards. */
  static ofShards(shards: Iterable<number>): ColumnSet {
    const set = new ColumnSet();
    for (const shard of shards) {
      const start = (shard % 4096) * shardWidth;
      set.page(Math.floor(shard / 4096)).addRange(start, start + shardWidth);
    }
    return set;
  }

  static union(sets: readonly ColumnSet[]): ColumnSet {
    const lists = new Map<number, Bitmap[]>();
    for (const set of sets) {
      for (const [page, bitmap] of set.pages) {
        const list = lists.get(page);
        if (list) {
          list.push(bitmap);
        } else {
          lists.set(page, [bitmap]);
        }
      }
    }
    return new ColumnSet(new Map([...lists].map(([page, bitmaps]) => [page, Bitmaps.orMany(bitmaps)])));
  }

  private page(page: number): Bitmap {
    let bitmap = this.pages.get(page);
    if (!bitmap) {
      this.pages.set(page, (bitmap = new Bitmaps()));
    }
    return bitmap;
  }

  get size(): number {
    let size = 0;
    for (const bitmap of this.pages.values()) {
      size += bitmap.size;
    }
    return size;
  }

  get isEmpty(): boolean {
    for (const bitmap of this.pages.values()) {
      if (!bitmap.isEmpty) {
        return false;
      }
    }
    return true;
  }

  has(column: Int): boolean {
    return this.pages.get(pageOf(column))?.has(offsetOf(column)) ?? false;
  }

  /** Changes this set; whether the column is new. */
  add(column: Int): boolean {
    this.changes += 1;
    const page = pageOf(column);
    const offset = offsetOf(column);
    this.changed.note(page, offset, offset);
    return this.page(page).tryAdd(offset);
  }

  /** Changes this set; whether the column was there. */
  remove(column: Int): boolean {
    const page = pageOf(column);
    const offset = offsetOf(column);
    const bitmap = this.pages.get(page);
    this.changes += 1;
    if (!bitmap?.delete(offset)) {
      return false;
    }
    this.changed.note(page, offset, offset);
    if (bitmap.isEmpty) {
      this.pages.delete(page);
    }
    return true;
  }

  /** Changes this set. */
  addMany(columns: readonly Int[]): void {
    this.addList(columnList(columns));
  }

  /** Changes this set. */
  addList(columns: ColumnList): void {
    this.changes += 1;
    for (const [page, offsets] of columns) {
      this.page(page).addMany(offsets);
      this.changed.note(page, offsets[0] ?? 0, offsets.at(-1) ?? 0);
    }
  }

  /** Changes this set: adds all of another one. */
  addAll(other: ColumnSet): void {
    this.changes += 1;
    for (const [page, bitmap] of other.pages) {
      const ours = this.pages.get(page);
      this.changed.noteAll(page, bitmap);
      if (ours) {
        ours.orInPlace(bitmap);
      } else {
        this.pages.set(page, bitmap.clone());
      }
    }
  }

  /** Changes this set: removes all of another one. */
  removeAll(other: ColumnSet): void {
    this.changes += 1;
    for (const [page, bitmap] of other.pages) {
      this.changed.noteAll(page, bitmap);
      this.pages.get(page)?.andNotInPlace(bitmap);
    }
  }

  private combine(other: ColumnSet, operation: Operation): ColumnSet {
    const pages = new Map<number, Bitmap>();
    for (const [page, ours] of this.pages) {
      const theirs = other.pages.get(page);
      if (theirs) {
        pages.set(page, Bitmaps[operation](ours, theirs));
      } else if (operation !== 'and') {
        pages.set(page, ours);
      }
    }
    if (operation === 'or' || operation === 'xor') {
      for (const [page, theirs] of other.pages) {
        if (!this.pages.has(page)) {
          pages.set(page, theirs);
        }
      }
    }
    return new ColumnSet(pages);
  }

  and(other: ColumnSet): ColumnSet {
    return this.combine(other, 'and');
  }

  or(other: ColumnSet): ColumnSet {
    return this.combine(other, 'or');
  }

  xor(other: ColumnSet): ColumnSet {
    return this.combine(other, 'xor');
  }

  andNot(other: ColumnSet): ColumnSet {
    return this.combine(other, 'andNot');
  }

  /** The size of the intersection, without building it. */
  countShared(other: ColumnSet): number {
    let count = 0;
    for (const [page, ours] of this.pages) {
      const theirs = other.pages.get(page);
      if (theirs) {
        count += ours.andCardinality(theirs);
      }
    }
    return count;
  }

  /** From the first column to after the last one; undefined for an empty set and where columns are 2^32 or more. */
  extent(): { start: number; end: number } | undefined {
    const first = this.pages.get(0);
    if (!first || this.pages.size > 1 || first.isEmpty) {
      return undefined;
    }
    return { start: first.minimum(), end: first.maximum() + 1 };
  }

  /** The columns below `width`, at most 2^32, that are not in this set. */
  complementBelow(width: number): ColumnSet {
    const all = Bitmaps.fromRange(0, width);
    const ours = this.pages.get(0);
    return new ColumnSet(new Map([[0, ours ? Bitmaps.andNot(all, ours) : all]]));
  }

  equals(other: ColumnSet): boolean {
    const size = this.size;
    return size === other.size && this.countShared(other) === size;
  }

  clone(): ColumnSet {
    return new ColumnSet(new Map([...this.pages].map(([page, bitmap]) => [page, bitmap.clone()])));
  }

  /** Every column plus `by`; what would pass 2^63 - 1 is dropped. */
  shift(by: Int): ColumnSet {
    const shifted = new ColumnSet();
    const offset = offsetOf(by);
    for (const [page, bitmap] of this.pages) {
      const target = page + pageOf(by);
      for (const [to, moved] of [
        [target, Bitmaps.addOffset(bitmap, offset)],
        [target + 1, Bitmaps.addOffset(bitmap, offset - pageWidth)],
      ] as const) {
        if (!moved.isEmpty && to < 2 ** 31) {
          shifted.page(to).orInPlace(moved);
        }
      }
    }
    return shifted;
  }

  /** The pages that hold something, ascending, with their offsets in ascending order. */
  *offsets(): Generator<readonly [page: number, offsets: Uint32Array]> {
    for (const page of this.sortedPages()) {
      yield [page, this.offsetsOfPage(page)];
    }
  }

  offsetsOfPage(page: number): Uint32Array {
    return this.pages.get(page)?.toUint32Array() ?? new Uint32Array();
  }

  /** All columns, ascending, a few ten thousand at a time. */
  *chunks(): Generator<Int[]> {
    for (const [page, offsets] of this.offsets()) {
      for (let from = 0; from < offsets.length; from += chunkLength) {
        const part = offsets.subarray(from, from + chunkLength);
        const base = page * pageWidth;
        yield page < exactPages
          ? Array.from(part, (offset) => base + offset)
          : Array.from(part, (offset) => columnAt(page, offset));
      }
    }
  }

  /** All columns, ascending. For sets that are known to be small. */
  toArray(): Int[] {
    return [...this.chunks()].flat();
  }

  /** Bytes of its bitmaps, about. */
  get bytes(): number {
    let bytes = 0;
    for (const bitmap of this.pages.values()) {
      bytes += bitmap.getSerializationSizeInBytes('portable') + bytesOfBitmap;
    }
    return bytes;
  }

  /** The highest shard that has a column, or undefined when it is empty. */
  highestShard(): number | undefined {
    const page = this.sortedPages().at(-1);
    if (page === undefined) {
      return undefined;
    }
    return page * 4096 + Math.floor((this.pages.get(page)?.maximum() ?? 0) / shardWidth);
  }

  private sortedPages(): number[] {
    return [...this.pages.entries()].flatMap(([page, { isEmpty }]) => (isEmpty ? [] : [page])).sort((a, b) => a - b);
  }

  /** For the log and for snapshots: pages in the portable roaring format. */
  *serialized(): Generator<readonly [page: number, bytes: Uint8Array]> {
    for (const page of this.sortedPages()) {
      const bitmap = this.pages.get(page);
      if (bitmap) {
        yield [page, bitmap.serialize('portable')];
      }
    }
  }

  /** Changes this set: loads a page that `serialized` made. */
  load(page: number, bytes: Uint8Array): void {
    this.changes += 1;
    this.changed.note(page, 0, pageWidth - 1);
    this.pages.set(page, Bitmaps.deserialize(bytes, 'portable'));
  }

  /** At most so many containers are in its bitmaps: what an operation on it goes through. */
  get containers(): number {
    if (this.countedAt !== this.changes) {
      this.counted = 0;
      this.countedAt = this.changes;
      for (const bitmap of this.pages.values()) {
        this.counted += bitmap.isEmpty ? 0 : maxContainers(bitmap);
      }
    }
    return this.counted;
  }

  /** The segments that hold something, and some between them that do not. */
  segments(): ReadonlySet<number> {
    const all = new Set<number>();
    for (const [page, bitmap] of this.pages) {
      if (!bitmap.isEmpty) {
        addSegments(all, page, { from: bitmap.minimum(), to: bitmap.maximum() });
      }
    }
    return all;
  }

  /** The segments that have changed since this was asked the last time. */
  takeChangedSegments(): ReadonlySet<number> {
    return this.changed.take();
  }

  /** Its columns, a segment at a time, each as it is when its turn comes. */
  *bySegment(): Generator<ColumnSet> {
    for (const segment of this.segments()) {
      const page = pageOfSegment(segment);
      const bitmap = this.pages.get(page);
      const part = bitmap && partOfSegment(bitmap, segment);
      if (part && !part.isEmpty) {
        yield new ColumnSet(new Map([[page, part]]));
      }
    }
  }

  /** Shows the columns of a segment to `use`, if there are any; the bitmap is not to be changed or retained. */
  useSegment(segment: number, use: (bitmap: Bitmap) => void): void {
    const bitmap = this.pages.get(pageOfSegment(segment));
    if (bitmap && !bitmap.isEmpty) {
      useSegmentOf(bitmap, segment, use);
    }
  }

  /** Changes this set's memory only: stretches of neighbours are stored as such, spare capacity is released. */
  compact(): void {
    for (const bitmap of this.pages.values()) {
      bitmap.runOptimize();
      bitmap.shrinkToFit();
    }
  }
}

const chunkLength = 32_768;
/** What a bitmap takes beside its containers. */
const bytesOfBitmap = 256;

/** Shared by everything that has no columns; never changed. */
export const noColumns = new ColumnSet();
