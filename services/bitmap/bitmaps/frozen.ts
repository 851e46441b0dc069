import type { Bitmap } from './bitmap';
import { nativeBitmaps } from './kind';

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

/** Undefined where bitmaps are not native: those in TypeScript cannot be shared. */
export function frozenBitmaps(): FrozenBitmaps | undefined {
  // The native class has more than the interface of all bitmaps.
  const kind = nativeBitmaps() as unknown as FreezingKind | undefined;
  if (!kind) {
    return undefined;
  }
  // So have its bitmaps, and where it is there all bitmaps are its own.
  const native = (bitmap: Bitmap): FreezingBitmap => bitmap as unknown as FreezingBitmap;
  return {
    sizeOf: (bitmap) => native(bitmap).getSerializationSizeInBytes(format),
    freeze: (bitmap, into) => void native(bitmap).serialize(format, into),
    allocate: (size) => kind.bufferAlignedAllocSharedUnsafe(size),
    view: (bytes) => kind.unsafeFrozenView(bytes, format),
  };
}
