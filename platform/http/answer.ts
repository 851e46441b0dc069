import { Readable } from 'node:stream';
import type { HttpContext } from './context';

/** A JSON answer that is already serialised; it is sent as it is. */
export class RawJson {
  constructor(readonly bytes: Buffer) {}
}

/** An answer that is no JSON: bytes as they come, with the headers that say what they are. */
export class BytesAnswer {
  constructor(
    readonly bytes: AsyncIterable<Buffer>,
    readonly headers: Record<string, string>,
  ) {}
}

/** Streams an answer; a failure after its beginning ends the connection. */
export function sendBytes(ctx: HttpContext, { bytes, headers }: BytesAnswer): void {
  ctx.body = Readable.from(bytes);
  ctx.set(headers);
}

/** Sets the body, whatever JSON value it is: left to itself, Koa makes 204 of `null` and plain text of a string. */
export function sendJson(ctx: HttpContext, value: unknown): void {
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = value instanceof RawJson ? value.bytes : Buffer.from(JSON.stringify(value));
}

/** The value of `If-None-Match` or `If-Match` as entity tags without their weakness mark. */
const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/**
 * Sets `ETag` and tells whether the caller has this version already; then the answer is 304 and has no body. Dates are
 * not compared: `If-Modified-Since` counts in seconds, in which a task may change twice.
 *
 * @param tag entity tag with its quotes, and `W/` when it is weak
 */
export function answersNotModified(ctx: HttpContext, tag: string): boolean {
  ctx.set('ETag', tag);
  ctx.set('Cache-Control', 'private, no-cache');
  const known = ctx.get('If-None-Match');
  const same = known !== '' && (known === '*' || tagsOf(known).includes(tag.replace(/^W\//, '')));
  if (same) ctx.status = 304;
  return same;
}
