import type { Bitmap } from './bitmap';
import * as containers from './containers';
import { readPortable, writePortable } from './portable';

type Container = containers.Container;

/** Bitmaps in TypeScript, for machines without the native library. Made of containers of 2^16 values. */
export class PlainBitmap implements Bitmap {
  private parts: Map<number, Container>;
  /** The keys of `parts`, ascending; made again after a container came or went. */
  private sortedKeys: number[] | undefined;

  constructor(parts = new Map<number, Container>()) {
    this.parts = parts;
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

  static and = (a: PlainBitmap, b: PlainBitmap): PlainBitmap => combine(a, b, containers.intersection);
  static or = (a: PlainBitmap, b: PlainBitmap): PlainBitmap => combine(a, b, containers.union);
  static xor = (a: PlainBitmap, b: PlainBitmap): PlainBitmap => combine(a, b, containers.symmetricDifference);
  static andNot = (a: PlainBitmap, b: PlainBitmap): PlainBitmap => combine(a, b, containers.difference);

  static orMany(bitmaps: readonly PlainBitmap[]): PlainBitmap {
    return bitmaps.reduce((all, one) => PlainBitmap.or(all, one), new PlainBitmap());
  }

  static addOffset(bitmap: PlainBitmap, offset: number): PlainBitmap {
    const shifted = Array.from(bitmap.toUint32Array(), (value) => value + offset);
    return PlainBitmap.from(Uint32Array.from(shifted.filter((value) => value >= 0 && value <= 0xffffffff)));
  }

  private keys(): number[] {
    this.sortedKeys ??= [...this.parts.keys()].sort((a, b) => a - b);
    return this.sortedKeys;
  }

  private replace(key: number, container: Container | undefined): void {
    if (!container) {
      this.parts.delete(key);
    } else {
      this.parts.set(key, container);
    }
    this.sortedKeys = undefined;
  }

  /** Ascending. */
  entries(): [number, Container][] {
    return this.keys().flatMap((key) => {
      const container = this.parts.get(key);
      return container ? [[key, container] as [number, Container]] : [];
    });
  }

  part(key: number): Container | undefined {
    return this.parts.get(key);
  }

  get size(): number {
    let size = 0;
    for (const container of this.parts.values()) {
      size += containers.countOf(container);
    }
    return size;
  }

  get isEmpty(): boolean {
    return this.parts.size === 0;
  }

  has(value: number): boolean {
    const container = this.parts.get(value >>> 16);
    return container !== undefined && containers.hasValue(container, value & 0xffff);
  }

  private change(value: number, present: boolean): boolean {
    const key = value >>> 16;
    const before = this.parts.get(key);
    const after = containers.withValue(before, value & 0xffff, present);
    if (before === after) {
      return false;
    }
    if (before && after) {
      this.parts.set(key, after);
    } else {
      this.replace(key, after);
    }
    return true;
  }

  tryAdd(value: number): boolean {
    return this.change(value, true);
  }

  delete(value: number): boolean {
    return this.change(value, false);
  }

  addMany(values: Uint32Array): void {
    const sorted = values.some((value, at) => at > 0 && value < (values[at - 1] ?? 0)) ? values.slice().sort() : values;
    let start = 0;
    while (start < sorted.length) {
      const key = (sorted[start] ?? 0) >>> 16;
      const list: number[] = [];
      let previous = -1;
      let at = start;
      for (; at < sorted.length && (sorted[at] ?? 0) >>> 16 === key; at += 1) {
        const value = (sorted[at] ?? 0) & 0xffff;
        if (value !== previous) {
          list.push(value);
        }
        previous = value;
      }
      this.merge(key, containers.fromList(Uint16Array.from(list)));
      start = at;
    }
  }

  addRange(from: number, to: number): void {
    for (let key = Math.floor(from / 65_536); key * 65_536 < to; key += 1) {
      const start = Math.max(from - key * 65_536, 0);
      const end = Math.min(to - key * 65_536, 65_536);
      this.merge(key, containers.fromList(Uint16Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i)));
    }
  }

  private merge(key: number, added: Container | undefined): void {
    const before = this.parts.get(key);
    if (added) {
      this.replace(key, before ? containers.combine(before, added, containers.union) : added);
    }
  }

  private become(other: PlainBitmap): void {
    this.parts = other.parts;
    this.sortedKeys = undefined;
  }

  andInPlace(other: PlainBitmap): void {
    this.become(PlainBitmap.and(this, other));
  }

  orInPlace(other: PlainBitmap): void {
    this.become(PlainBitmap.or(this, other));
  }

  andNotInPlace(other: PlainBitmap): void {
    this.become(PlainBitmap.andNot(this, other));
  }

  andCardinality(other: PlainBitmap): number {
    let count = 0;
    for (const [key, container] of this.parts) {
      const theirs = other.part(key);
      if (theirs) {
        count += containers.countShared(container, theirs);
      }
    }
    return count;
  }

  isEqual(other: PlainBitmap): boolean {
    return this.size === other.size && this.andCardinality(other) === this.size;
  }

  clone(): PlainBitmap {
    return new PlainBitmap(new Map([...this.parts].map(([key, part]) => [key, containers.cloneContainer(part)])));
  }

  minimum(): number {
    return this.toUint32Array()[0] ?? 0xffffffff;
  }

  maximum(): number {
    return this.toUint32Array().at(-1) ?? 0;
  }

  rangeCardinality(from: number, to: number): number {
    return this.andCardinality(PlainBitmap.fromRange(from, to));
  }

  toUint32Array(): Uint32Array {
    const values = new Uint32Array(this.size);
    let at = 0;
    for (const [key, container] of this.entries()) {
      containers.eachValue(container, (value) => (values[at++] = key * 65_536 + value));
    }
    return values;
  }

  serialize(_format: 'portable'): Uint8Array {
    return writePortable(this.entries());
  }

  getSerializationSizeInBytes(_format: 'portable'): number {
    let size = 8;
    for (const container of this.parts.values()) {
      size += 8 + containers.sizeOf(container);
    }
    return size;
  }

  runOptimize(): boolean {
    return false;
  }

  shrinkToFit(): number {
    return 0;
  }
}

function combine(a: PlainBitmap, b: PlainBitmap, keeps: containers.Keeps): PlainBitmap {
  const parts = new Map<number, Container>();
  for (const [key, ours] of a.entries()) {
    const theirs = b.part(key);
    const part = theirs
      ? containers.combine(ours, theirs, keeps)
      : keeps.left
        ? containers.cloneContainer(ours)
        : undefined;
    if (part) {
      parts.set(key, part);
    }
  }
  if (keeps.right) {
    for (const [key, theirs] of b.entries()) {
      if (!a.part(key)) {
        parts.set(key, containers.cloneContainer(theirs));
      }
    }
  }
  return new PlainBitmap(parts);
}
