import type { Bitmap } from './bitmap';
import { nativeBitmaps } from './kind';
import { PlainBitmap } from './plain';
import { freezePlain, plainFrozenSize, viewPlain } from './shared';

type Frozen = 'unsafe_frozen_croaring';

/** What only the native library has: a format that is read without a copy. */
interface FreezingKind {
  unsafeFrozenView(bytes: Uint8Array, format: Frozen): Bitmap;
  bufferAlignedAllocSharedUnsafe(size: number): Uint8Array;
}
interface FreezingBitmap {
  getSerializationSizeInBytes(format: Frozen): number;
  serialize(format: Frozen, into: Uint8Array): Uint8Array;
}

/** Bitmaps in memory that all threads of the process share. They never change. */
export interface FrozenBitmaps {
  sizeOf(bitmap: Bitmap): number;
  /** @param into as many bytes as `sizeOf` returns, of what `allocate` made */
  freeze(bitmap: Bitmap, into: Uint8Array): void;
  /** Memory that all threads see. */
  allocate(size: number): Uint8Array;
  /** The bitmap that was frozen, in any thread of this process; it lies in `bytes` and is only read. */
  view(bytes: Uint8Array): Bitmap;
}

const format: Frozen = 'unsafe_frozen_croaring';

/** Of the kind of bitmaps that this process works with. */
export function frozenBitmaps(): FrozenBitmaps {
  // The native class has more than the interface of all bitmaps.
  const kind = nativeBitmaps() as unknown as FreezingKind | undefined;
  return kind ? frozenNative(kind) : frozenPlain;
}

function frozenNative(kind: FreezingKind): FrozenBitmaps {
  // So have its bitmaps, and where it is there all bitmaps are its own.
  const native = (bitmap: Bitmap): FreezingBitmap => bitmap as unknown as FreezingBitmap;
  return {
    sizeOf: (bitmap) => native(bitmap).getSerializationSizeInBytes(format),
    freeze: (bitmap, into) => void native(bitmap).serialize(format, into),
    allocate: (size) => kind.bufferAlignedAllocSharedUnsafe(size),
    view: (bytes) => kind.unsafeFrozenView(bytes, format),
  };
}

/** As there: where the library is not, all bitmaps are plain. */
const plain = (bitmap: Bitmap): PlainBitmap => bitmap as PlainBitmap;

export const frozenPlain: FrozenBitmaps = {
  sizeOf: (bitmap) => plainFrozenSize(plain(bitmap).entries()),
  freeze: (bitmap, into) => freezePlain(plain(bitmap).entries(), into),
  allocate: (size) => new Uint8Array(new SharedArrayBuffer(size)),
  view: (bytes) => new PlainBitmap(viewPlain(bytes)),
};
