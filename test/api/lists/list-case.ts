import type { ApiUnderTest, Reply } from '../api-under-test';

/** A list that is read by following its cursor, and how it gets longer. */
export interface ListCase {
  /** The operation of the OpenAPI document. */
  operation: string;
  /** Done once before items are added; returns the owner of the list, e.g. the id of a task. */
  prepare?: (board: ApiUnderTest) => Promise<string>;
  /** The path of the request; its query names filters only. */
  path: string | ((owner: string) => string);
  /** Adds one more item to the list; `n` is 1, 2, 3 … */
  add: (board: ApiUnderTest, n: number, owner: string) => Promise<unknown>;
  /** Where the items are in a response that is an object. */
  items?: string | ((body: Reply['body']) => Reply['body'][]);
  /** The newest page comes first, its items the oldest first. */
  backwards?: boolean;
  /** Pages that were asked for without a cursor have numbers, and link to each other by them. */
  numbered?: boolean;
  /** What identifies an item; its `id` by default. */
  idOf?: (item: Reply['body']) => unknown;
}

/** A call that must succeed; returns the body. */
export async function done(board: ApiUnderTest, method: string, path: string, body?: unknown): Promise<Reply['body']> {
  const reply = await board.call(method, path, body === undefined ? {} : { body });
  if (reply.status >= 300) {
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }
  return reply.body;
}

/** Adds by posting a body that `make` makes. */
export const posting =
  (path: string, make: (n: number) => unknown) =>
  (board: ApiUnderTest, n: number): Promise<unknown> =>
    done(board, 'POST', path, make(n));
