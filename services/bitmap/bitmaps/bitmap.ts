/**
 * A set of unsigned 32-bit integers. What a compressed bitmap library offers of which this service uses exactly this;
 * the native library fulfils it as it is, `PlainBitmap` wherever there is no native library.
 */
export interface Bitmap {
  /** How many values it holds. */
  readonly size: number;
  readonly isEmpty: boolean;
  has(value: number): boolean;
  /** Adds one value; whether it was not there before. */
  tryAdd(value: number): boolean;
  /** Removes one value; whether it was there. */
  delete(value: number): boolean;
  /** Sorted values are added fastest. */
  addMany(values: Uint32Array): unknown;
  /** Adds `from` (inclusive) to `to` (exclusive). */
  addRange(from: number, to: number): unknown;
  andInPlace(other: Bitmap): unknown;
  orInPlace(other: Bitmap): unknown;
  andNotInPlace(other: Bitmap): unknown;
  /** The size of the intersection, without building it. */
  andCardinality(other: Bitmap): number;
  isEqual(other: Bitmap): boolean;
  clone(): Bitmap;
  /** Of an empty one: 0xffffffff. */
  minimum(): number;
  /** Of an empty one: 0. */
  maximum(): number;
  /** How many values are in `from` (inclusive) to `to` (exclusive). */
  rangeCardinality(from: number, to: number): number;
  /** Ascending. */
  toUint32Array(): Uint32Array;
  /** The portable format that other roaring implementations read. */
  serialize(format: 'portable'): Uint8Array;
  /** How many bytes `serialize` returns; cheap. */
  getSerializationSizeInBytes(format: 'portable'): number;
  /** Lets stretches of neighbouring values take less space. */
  runOptimize(): boolean;
  /** Releases memory that growth left. */
  shrinkToFit(): number;
  /** Releases all memory at once, and not when it is collected; it is not to be used again. */
  dispose?(): void;
}

/** Makes bitmaps. The operations leave their operands alone. */
export interface BitmapKind {
  new (): Bitmap;
  from(values: Uint32Array): Bitmap;
  fromRange(from: number, to: number): Bitmap;
  and(a: Bitmap, b: Bitmap): Bitmap;
  or(a: Bitmap, b: Bitmap): Bitmap;
  xor(a: Bitmap, b: Bitmap): Bitmap;
  andNot(a: Bitmap, b: Bitmap): Bitmap;
  orMany(bitmaps: readonly Bitmap[]): Bitmap;
  /** Every value plus `offset`, which may be negative; what leaves 32 bits is dropped. */
  addOffset(bitmap: Bitmap, offset: number): Bitmap;
  /** Reads the portable format. The bytes must be ones that were written by `serialize`. */
  deserialize(bytes: Uint8Array, format: 'portable'): Bitmap;
}
