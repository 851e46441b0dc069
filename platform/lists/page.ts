/** Where a page ended: the sort key and the id of its last item, whatever happens to that item since. */
export interface Position {
  key: string | number;
  id: string;
}

/** Which part of a list is requested. */
export interface PageRequest {
  limit: number;
  /** Items after this position; the first ones without it. */
  cursor?: Position | undefined;
  /** Items to pass over. */
  offset?: number | undefined;
}

/** One page of a list. */
export class Page<T> {
  constructor(
    readonly items: T[],
    /** Where the next page begins; undefined at the end of the list. */
    readonly next: Position | undefined,
  ) {}

  /** The same page with its items as `present` shows them. */
  map<U>(present: (item: T) => U): Page<U> {
    return new Page(this.items.map(present), this.next);
  }

  /** The response of a list that is an object; `nextCursor` is added to it. */
  answer<B extends object>(body: B): PagedBody<B> {
    return new PagedBody(body, this.next);
  }
}

/** A list that is an object, but for its `nextCursor`. */
export class PagedBody<B extends object> {
  constructor(
    readonly body: B,
    readonly next: Position | undefined,
  ) {}
}

/** Makes the page of a query with `limit + 1`: the extra item shows whether there is more. */
export function pageFrom<T>(overfetched: T[], limit: number, positionOf: (item: T) => Position): Page<T> {
  const items = overfetched.slice(0, limit);
  const last = items.at(-1);
  return new Page(items, overfetched.length > limit && last !== undefined ? positionOf(last) : undefined);
}

/** The offset of a page number from 1 on; 0 is the first page too. */
export const offsetOfPage = (page: number, limit: number): number => Math.max(0, page - 1) * limit;
