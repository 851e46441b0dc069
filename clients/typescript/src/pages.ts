import { type Body, type Result, unwrap } from './client';

/**
 * The pages of a list one after the other, each by the cursor of the one before it.
 *
 * @param read requests the page at a cursor; the first one without it
 * @throws BoardError when the board refuses one of them
 */
export async function* pages<R extends Result>(
  read: (cursor: string | undefined) => Promise<R>,
): AsyncGenerator<Body<R>> {
  for (let cursor: string | undefined; ;) {
    const result = await read(cursor);
    yield await unwrap(Promise.resolve(result));
    cursor = result.response.headers.get('X-Next-Cursor') ?? undefined;
    if (cursor === undefined) {
      return;
    }
  }
}
