import { createRequire } from 'node:module';
import type { BitmapKind } from './bitmap';
import { PlainBitmap } from './plain';

/** The bitmaps of the native library, or undefined where it could neither be fetched nor compiled. */
export function nativeBitmaps(): BitmapKind | undefined {
  try {
    return (createRequire(__filename)('roaring') as { RoaringBitmap32: BitmapKind }).RoaringBitmap32;
  } catch {
    return undefined;
  }
}

const native = nativeBitmaps();

/** Which bitmaps this process works with; `/info` and a warning at the start report it. */
export const bitmapKindName = native ? 'native' : 'plain';

/** The fastest bitmaps there are on this machine. */
export const Bitmaps: BitmapKind = native ?? PlainBitmap;
