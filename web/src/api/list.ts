import { unwrap } from './client';

interface Page<T> {
  items: readonly T[];
  next: string | undefined;
}

/** Reads every page of a list, at most `maxPages` of them. */
export async function readAll<T>(read: (cursor: string | undefined) => Promise<Page<T>>, maxPages = 20): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, next } = await read(cursor);
    all.push(...items);
    if (next === undefined) {
      break;
    }
    cursor = next;
  }
  return all;
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** A page of a list whose body is an array and whose cursor is in a header. */
export async function arrayPage<T>(request: Promise<Answer<T[]>>): Promise<Page<T>> {
  const answer = await request;
  const items = await unwrap(Promise.resolve(answer));
  return { items, next: answer.response.headers.get('X-Next-Cursor') ?? undefined };
}
