import type { Page } from './page';
import { pageFrom, type PageRequest, type Position } from './page';

/** Text by its UTF-16 units, as `sort()` orders it; numbers before text. */
function compareKeys(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const comparePositions = (a: Position, b: Position): number => compareKeys(a.key, b.key) || compareKeys(a.id, b.id);

/**
 * One page of a list that is in memory. The list is sorted by what `positionOf` answers, so that a page goes on where the
 * one before ended, whatever was added or removed meanwhile.
 *
 * @param direction 1: the lowest key first
 * @param positionOf sort key and id of an item; no two items have the same id
 */
export function slicePage<T>(
  items: readonly T[],
  { limit, cursor, offset = 0 }: PageRequest,
  positionOf: (item: T) => Position,
  direction: 1 | -1 = 1,
): Page<T> {
  const placed = items.map((item) => ({ item, position: positionOf(item) }));
  const after = cursor ? placed.filter(({ position }) => comparePositions(position, cursor) * direction > 0) : placed;
  after.sort((a, b) => comparePositions(a.position, b.position) * direction);
  const found = after.slice(offset, offset + limit + 1);
  return pageFrom(found, limit, ({ position }) => position).map(({ item }) => item);
}
