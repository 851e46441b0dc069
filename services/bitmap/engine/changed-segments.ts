import type { Bitmap } from '../bitmaps/bitmap';
import { addSegments, noSegments } from './segments';

/** Which segments of a set have changed; tracked from when it is first requested. */
export class ChangedSegments {
  private segments: Set<number> | undefined;

  /** Offsets of a page, both inclusive. */
  note(page: number, from: number, to: number): void {
    if (this.segments) {
      addSegments(this.segments, page, { from, to });
    }
  }

  noteAll(page: number, bitmap: Bitmap): void {
    if (this.segments && !bitmap.isEmpty) {
      this.note(page, bitmap.minimum(), bitmap.maximum());
    }
  }

  /** Those that have changed since this was called the last time. */
  take(): ReadonlySet<number> {
    const changed = this.segments ?? noSegments;
    if (changed.size > 0 || !this.segments) {
      this.segments = new Set();
    }
    return changed;
  }
}
