import type { Bitmap } from './bitmap';
import * as combine from './combine';
import * as containers from './containers';
import { portableSize, readPortable, writePortable } from './portable';
import { countBits } from './words';

type Container = containers.Container;
type Entry = readonly [key: number, container: Container];

/**
 * Bitmaps in TypeScript, for machines without the native library. Made of containers of 2^16 values, in the order of what these
 * have in common, their keys. Bitmaps that are made of others share their containers until one of them changes.
 */
export class PlainBitmap implements Bitmap {
  keys: number[] = [];
  parts: Container[] = [];

  /** @param entries in the order of their keys; what is shared with another bitmap is marked so */
  constructor(entries: Iterable<Entry> = []) {
    for (const [key, container] of entries) {
      this.append(key, container);
    }
  }

  static from(values: Uint32Array): PlainBitmap {
    const bitmap = new PlainBitmap();
    bitmap.addMany(values);
    return bitmap;
  }

  static fromRange(from: number, to: number): PlainBitmap {
    const bitmap = new PlainBitmap();
    bitmap.addRange(from, to);
    return bitmap;
  }

  static deserialize(bytes: Uint8Array, _format: 'portable'): PlainBitmap {
    return new PlainBitmap(readPortable(bytes));
  }

  static and(a: PlainBitmap, b: PlainBitmap): PlainBitmap {
    const result = new PlainBitmap();
    eachShared(a, b, (key, ours, theirs) => result.append(key, combine.and(ours, theirs)));
    return result;
  }

  static or(a: PlainBitmap, b: PlainBitmap): PlainBitmap {
    return merged(a, b, { both: combine.or, right: true });
  }

  static xor(a: PlainBitmap, b: PlainBitmap): PlainBitmap {
    return merged(a, b, { both: combine.xor, right: true });
  }

  static andNot(a: PlainBitmap, b: PlainBitmap): PlainBitmap {
    return merged(a, b, { both: combine.andNot, right: false });
  }

  static orMany(bitmaps: readonly PlainBitmap[]): PlainBitmap {
    const byKey = new Map<number, Container[]>();
    for (const [key, container] of bitmaps.flatMap((bitmap) => [...bitmap.entries()])) {
      const others = byKey.get(key);
      if (others) {
        others.push(container);
      } else {
        byKey.set(key, [container]);
      }
    }
    const result = new PlainBitmap();
    for (const key of [...byKey.keys()].sort((a, b) => a - b)) {
      result.append(key, combine.orMany(byKey.get(key) ?? []));
    }
    return result;
  }

  static addOffset(bitmap: PlainBitmap, offset: number): PlainBitmap {
    const step = Math.floor(offset / containers.width);
    const rest = offset - step * containers.width;
    const result = new PlainBitmap();
    for (const [key, container] of bitmap.entries()) {
      const { low, high } = rest === 0 ? { low: containers.share(container) } : combine.shifted(container, rest);
      for (const [target, moved] of [[key + step, low] as const, [key + step + 1, high] as const]) {
        if (moved && target >= 0 && target < containers.width) {
          result.merge(target, moved);
        }
      }
    }
    return result;
  }

  /** Ascending. */
  *entries(): Generator<Entry> {
    for (const [at, key] of this.keys.entries()) {
      const container = this.parts[at];
      if (container) {
        yield [key, container];
      }
    }
  }

  /** Adds a container after all others, if there is one. */
  private append(key: number, container: Container | undefined): void {
    if (container) {
      this.keys.push(key);
      this.parts.push(container);
    }
  }

  /** Where a container is; where it would be, when there is none. */
  private find(key: number): number {
    return containers.lowerBound(this.keys, key);
  }

  private part(key: number): Container | undefined {
    return this.partAt(this.find(key), key);
  }

  /** @param at what `find` returns for the key */
  private partAt(at: number, key: number): Container | undefined {
    return this.keys[at] === key ? this.parts[at] : undefined;
  }

  /** @param at what `find` returns for the key */
  private set(key: number, container: Container | undefined, at = this.find(key)): void {
    const isThere = this.keys[at] === key;
    if (container && isThere) {
      this.parts[at] = container;
    } else if (container) {
      this.keys.splice(at, 0, key);
      this.parts.splice(at, 0, container);
    } else if (isThere) {
      this.keys.splice(at, 1);
      this.parts.splice(at, 1);
    }
  }

  /** Adds the values of a container, which becomes its own unless it is `another` bitmap's. */
  private merge(key: number, added: Container, { another = false } = {}): void {
    const at = this.find(key);
    const before = this.partAt(at, key);
    if (before && containers.isBits(before) && !before.shared) {
      containers.addTo(before.bits, added);
      before.count = countBits(before.bits);
    } else {
      const result = before ? combine.or(before, added) : another ? containers.share(added) : added;
      this.set(key, result, at);
    }
  }

  get size(): number {
    return this.parts.reduce((size, container) => size + containers.countOf(container), 0);
  }

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  has(value: number): boolean {
    const container = this.part(value >>> 16);
    return container !== undefined && containers.hasValue(container, value & 0xffff);
  }

  tryAdd(value: number): boolean {
    return this.put(value, true);
  }

  delete(value: number): boolean {
    return this.put(value, false);
  }

  /** @returns whether it was otherwise before */
  private put(value: number, isThere: boolean): boolean {
    const [key, low] = [value >>> 16, value & 0xffff];
    const at = this.find(key);
    const before = this.partAt(at, key);
    if ((before !== undefined && containers.hasValue(before, low)) === isThere) {
      return false;
    }
    this.set(key, before ? containers.flip(before, low) : Uint16Array.of(low), at);
    return true;
  }

  addMany(values: Uint32Array): void {
    const sorted = ascending(values);
    let start = 0;
    while (start < sorted.length) {
      const first = sorted[start] ?? 0;
      let end = start + 1;
      while (end < sorted.length && (sorted[end] ?? 0) >>> 16 === first >>> 16) {
        end += 1;
      }
      // Their lower sixteen bits.
      const added = end - start > 1 ? containers.fromList(new Uint16Array(sorted.subarray(start, end))) : undefined;
      if (added) {
        this.merge(first >>> 16, added);
      } else {
        this.put(first, true);
      }
      start = end;
    }
  }

  addRange(from: number, to: number): void {
    for (let key = Math.floor(from / containers.width); key * containers.width < to; key += 1) {
      const start = Math.max(from - key * containers.width, 0);
      const end = Math.min(to - key * containers.width, containers.width);
      if (start < end) {
        this.merge(key, containers.runsOf(start, end));
      }
    }
  }

  private become(other: PlainBitmap): void {
    this.keys = other.keys;
    this.parts = other.parts;
  }

  andInPlace(other: PlainBitmap): void {
    this.become(PlainBitmap.and(this, other));
  }

  orInPlace(other: PlainBitmap): void {
    for (const [key, container] of other.entries()) {
      this.merge(key, container, { another: true });
    }
  }

  andNotInPlace(other: PlainBitmap): void {
    this.become(PlainBitmap.andNot(this, other));
  }

  andCardinality(other: PlainBitmap): number {
    let count = 0;
    eachShared(this, other, (_key, ours, theirs) => (count += combine.countShared(ours, theirs)));
    return count;
  }

  isEqual(other: PlainBitmap): boolean {
    return this.size === other.size && this.andCardinality(other) === this.size;
  }

  clone(): PlainBitmap {
    const copy = new PlainBitmap();
    copy.keys = [...this.keys];
    copy.parts = this.parts.map(containers.share);
    return copy;
  }

  minimum(): number {
    const [first] = this.parts;
    return first ? (this.keys[0] ?? 0) * containers.width + containers.minimumOf(first) : 0xffffffff;
  }

  maximum(): number {
    const last = this.parts.at(-1);
    return last ? (this.keys.at(-1) ?? 0) * containers.width + containers.maximumOf(last) : 0;
  }

  rangeCardinality(from: number, to: number): number {
    let count = 0;
    for (
      let at = containers.lowerBound(this.keys, Math.floor(from / containers.width));
      at < this.keys.length;
      at += 1
    ) {
      const [start, part] = [(this.keys[at] ?? 0) * containers.width, this.parts[at]];
      if (!part || start >= to) {
        break;
      }
      const isWhole = from <= start && start + containers.width <= to;
      count += isWhole
        ? containers.countOf(part)
        : containers.countWithin(part, Math.max(from - start, 0), Math.min(to - start, containers.width));
    }
    return count;
  }

  toUint32Array(): Uint32Array {
    const values = new Uint32Array(this.size);
    let at = 0;
    for (const [key, container] of this.entries()) {
      at = containers.listInto(container, values, { at, start: key * containers.width });
    }
    return values;
  }

  serialize(_format: 'portable'): Uint8Array {
    return writePortable([...this.entries()]);
  }

  getSerializationSizeInBytes(_format: 'portable'): number {
    return portableSize(this.parts);
  }

  runOptimize(): boolean {
    this.parts = this.parts.map(containers.withRuns);
    return this.parts.some(containers.isRuns);
  }

  shrinkToFit(): number {
    return 0;
  }
}

/** Calls back with the containers of each key that both have. */
function eachShared(
  a: PlainBitmap,
  b: PlainBitmap,
  visit: (key: number, ours: Container, theirs: Container) => void,
): void {
  let i = 0;
  let j = 0;
  while (i < a.keys.length && j < b.keys.length) {
    const [ourKey, theirKey] = [a.keys[i] ?? 0, b.keys[j] ?? 0];
    const [ours, theirs] = [a.parts[i], b.parts[j]];
    if (ourKey === theirKey && ours && theirs) {
      visit(ourKey, ours, theirs);
    }
    i += ourKey <= theirKey ? 1 : 0;
    j += theirKey <= ourKey ? 1 : 0;
  }
}

/** The same values, ascending and without repetitions. */
function ascending(values: Uint32Array): Uint32Array {
  let isSorted = true;
  let repetitions = 0;
  for (let at = 1; at < values.length && isSorted; at += 1) {
    const [before, value] = [values[at - 1] ?? 0, values[at] ?? 0];
    isSorted = before <= value;
    repetitions += before === value ? 1 : 0;
  }
  if (!isSorted) {
    return ascending(values.slice().sort());
  }
  if (repetitions === 0) {
    return values;
  }
  const distinct = new Uint32Array(values.length - repetitions);
  let length = 0;
  for (let at = 0; at < values.length; at += 1) {
    if (at === 0 || values[at] !== values[at - 1]) {
      distinct[length++] = values[at] ?? 0;
    }
  }
  return distinct;
}

interface Merging {
  both: (a: Container, b: Container) => Container | undefined;
  /** Whether what the second has alone is retained, as that of the first is. */
  right: boolean;
}

function merged(a: PlainBitmap, b: PlainBitmap, { both, right }: Merging): PlainBitmap {
  return new PlainBitmap(mergedEntries([...a.entries()], [...b.entries()], { both, right }));
}

function* mergedEntries(a: readonly Entry[], b: readonly Entry[], { both, right }: Merging): Generator<Entry> {
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [ourKey, ours] = a[i] ?? [Infinity];
    const [theirKey, theirs] = b[j] ?? [Infinity];
    const key = Math.min(ourKey, theirKey);
    const [left, there] = [ourKey === key ? ours : undefined, theirKey === key ? theirs : undefined];
    const part = left && there ? both(left, there) : (left ?? (right ? there : undefined));
    if (part) {
      yield [key, left && there ? part : containers.share(part)];
    }
    i += left ? 1 : 0;
    j += there ? 1 : 0;
  }
}
