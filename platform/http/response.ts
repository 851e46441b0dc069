import { Readable } from 'node:stream';
import type { HttpContext } from './context';

/** A JSON response that is already serialised; it is sent unchanged. */
export class RawJson {
  /** @param value what was serialised, where it is to be checked and presented like any other reply */
  constructor(
    readonly bytes: Buffer | string,
    readonly value?: unknown,
  ) {}
}

/** A response that is no JSON: bytes as they come, with the headers that describe them. */
export class BytesResponse {
  constructor(
    readonly bytes: AsyncIterable<Buffer>,
    readonly headers: Record<string, string>,
  ) {}
}

/** A response that is a status without a body. */
export const emptyResponse = (): BytesResponse => new BytesResponse(Readable.from([]), {});

/** Streams a response; a failure after its beginning ends the connection. */
export function sendBytes(ctx: HttpContext, { bytes, headers }: BytesResponse): void {
  ctx.body = Readable.from(bytes);
  ctx.set(headers);
}

/**
 * Sets the body, whatever JSON value it is: by default, Koa makes 204 of `null`. A body that is text is written in one piece with
 * the headers.
 */
export function sendJson(ctx: HttpContext, value: unknown): void {
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = value instanceof RawJson ? value.bytes : JSON.stringify(value);
}

/** The value of `If-None-Match` or `If-Match` as entity tags without their weakness mark. */
const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/**
 * Sets `ETag` and returns whether the caller has this version already; then the response is 304 and has no body. Dates are not
 * compared: `If-Modified-Since` counts in seconds, in which a task may change twice.
 *
 * @param tag entity tag with its quotes, and `W/` when it is weak
 */
export function answersNotModified(ctx: HttpContext, tag: string): boolean {
  ctx.set('ETag', tag);
  ctx.set('Cache-Control', 'private, no-cache');
  const presented = ctx.get('If-None-Match');
  const same = presented !== '' && (presented === '*' || tagsOf(presented).includes(tag.replace(/^W\//, '')));
  if (same) {
    ctx.status = 304;
  }
  return same;
}
