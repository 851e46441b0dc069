import type { Page } from './page';
import { pageFrom, type PageRequest, type Position } from './page';

/** Orders two keys: negative when `a` comes first. */
type Compare = (a: string | number, b: string | number) => number;

/** Text by its UTF-16 units, as `sort()` orders it; numbers before text. */
const plainly: Compare = (a, b) => {
  if (typeof a !== typeof b) {
    return typeof a === 'number' ? -1 : 1;
  }
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
};

const { compare } = new Intl.Collator('en');

/** Names as people sort them: whatever their case, accented letters beside plain ones. */
export const byName: Compare = (a, b) => compare(String(a), String(b));

export interface SliceOrder<T> {
  positionOf: (item: T) => Position;
  /** 1, the default: the lowest key first. */
  direction?: 1 | -1;
  compareKeys?: Compare;
}

/**
 * One page of a list that is in memory. The list is sorted by what `positionOf` returns, so that a page continues where the one
 * before ended, whatever was added or removed meanwhile.
 *
 * @param positionOf sort key and id of an item; no two items have the same id
 */
export function slicePage<T>(
  items: readonly T[],
  { limit, cursor, offset = 0 }: PageRequest,
  { positionOf, direction = 1, compareKeys = plainly }: SliceOrder<T>,
): Page<T> {
  const comparePositions = (a: Position, b: Position): number => compareKeys(a.key, b.key) || plainly(a.id, b.id);
  const placed = items.map((item) => ({ item, position: positionOf(item) }));
  const after = cursor ? placed.filter(({ position }) => comparePositions(position, cursor) * direction > 0) : placed;
  after.sort((a, b) => comparePositions(a.position, b.position) * direction);
  const window = after.slice(offset, offset + limit + 1);
  return pageFrom(window, limit, ({ position }) => position).map(({ item }) => item);
}
