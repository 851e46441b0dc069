import { Page, type PageRequest, type Position } from './page';

export interface SearchOptions<T, H> {
  /** Reads a page of everything that is looked through. */
  read: (part: PageRequest) => Promise<Page<T>>;
  /** What an item is shown as; undefined when it does not match. */
  hitOf: (item: T) => H | undefined;
  positionOf: (item: T) => Position;
  /** How many items one request reads; the next page continues behind them, even when none of them matched. */
  most: number;
}

/** Items that are read at a time. */
const readAtOnce = 500;

/** One page of matches in a list that no index can search. */
export async function searchPage<T, H>(
  { read, hitOf, positionOf, most }: SearchOptions<T, H>,
  { limit, cursor, offset = 0 }: PageRequest,
): Promise<Page<H>> {
  const hits: H[] = [];
  let passedOver = 0;
  let at: Position | undefined = cursor;
  for (let inspected = 0; inspected < most; inspected += readAtOnce) {
    const page: Page<T> = await read({ limit: readAtOnce, cursor: at });
    for (const [index, item] of page.items.entries()) {
      const hit = hitOf(item);
      if (hit === undefined) {
        continue;
      }
      if (passedOver < offset) {
        passedOver += 1;
        continue;
      }
      hits.push(hit);
      const isLast = index === page.items.length - 1;
      if (hits.length === limit) {
        return new Page(hits, isLast ? page.next : positionOf(item));
      }
    }
    at = page.next;
    if (!at) {
      return new Page(hits, undefined);
    }
  }
  return new Page(hits, at);
}
