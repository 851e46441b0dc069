import type { Bitmap } from '../bitmaps/bitmap';
import { Bitmaps } from '../bitmaps/kind';
import { pageWidth } from './column-list';

/** Columns of one shard (specification 3, B: shards, "slices" in the earlier revision). */
export const shardWidth = 1_048_576;

/** Columns of one segment, 16 shards: what is copied for other threads, and copied again after a change, as one piece. */
const segmentWidth = 16 * shardWidth;
const segmentsOfPage = pageWidth / segmentWidth;

export const noSegments: ReadonlySet<number> = new Set();

/** Adds the segments of the offsets `from` to `to`, both inclusive. */
export function addSegments(segments: Set<number>, page: number, { from, to }: { from: number; to: number }): void {
  const last = Math.floor(to / segmentWidth);
  for (let segment = Math.floor(from / segmentWidth); segment <= last; segment += 1) {
    segments.add(page * segmentsOfPage + segment);
  }
}

/** The page that a segment is a part of. */
export const pageOfSegment = (segment: number): number => Math.floor(segment / segmentsOfPage);

const ranges = new Map<number, Bitmap>();

/** All offsets of the segment that begins here. */
function rangeFrom(start: number): Bitmap {
  let range = ranges.get(start);
  if (!range) {
    ranges.set(start, (range = Bitmaps.fromRange(start, start + segmentWidth)));
  }
  return range;
}

/** The columns of a segment of a bitmap, as a bitmap of its own. */
export const partOfSegment = (bitmap: Bitmap, segment: number): Bitmap =>
  Bitmaps.and(bitmap, rangeFrom((segment % segmentsOfPage) * segmentWidth));

/** Shows the columns of a segment of a bitmap to `use`, if there are any; what it is shown is not to be changed or retained. */
export function useSegmentOf(bitmap: Bitmap, segment: number, use: (bitmap: Bitmap) => void): void {
  const start = (segment % segmentsOfPage) * segmentWidth;
  if (bitmap.minimum() >= start && bitmap.maximum() < start + segmentWidth) {
    use(bitmap);
    return;
  }
  const part = Bitmaps.and(bitmap, rangeFrom(start));
  if (!part.isEmpty) {
    use(part);
  }
  part.dispose?.();
}
