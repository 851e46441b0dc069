import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isForwarded } from './auth/loopback';
import type { HttpContext } from './context';
import { isLoopbackAddress } from './loopback-host';

const compress = promisify(gzip);

/** A shorter body is with its caller as soon uncompressed. In bytes, or in characters of a text. */
const leastLength = 16_384;

/** A list of 5,000 tasks is 0.8 MB instead of 2.9 with it; at the usual level 7 % less, in 1.6 times the time. */
const level = 1;

/** Compressed once however many callers are sent it: a list has the same bytes until it changes. */
const compressed = new WeakMap<Buffer, Promise<Buffer>>();

function compressOnce(bytes: Buffer): Promise<Buffer> {
  let result = compressed.get(bytes);
  if (!result) {
    result = compress(bytes, { level });
    compressed.set(bytes, result);
  }
  return result;
}

/** Whether a network lies between: on the same machine it takes longer to compress than to send. */
const isRemote = ({ req }: HttpContext): boolean =>
  !isLoopbackAddress(req.socket.remoteAddress ?? '') || isForwarded(req.headers);

/**
 * Compresses a long response to a `GET` for a caller elsewhere that accepts gzip. Its entity tag becomes a weak one, since it
 * is of the uncompressed bytes. Other responses are left alone: what changes something may return a secret beside texts of
 * the request, whose length would then depend on both.
 */
export function compressResponse(ctx: HttpContext): Promise<void> | undefined {
  const { body, method } = ctx;
  const isText = typeof body === 'string';
  if (method !== 'GET' || !(isText || Buffer.isBuffer(body)) || body.length < leastLength || !isRemote(ctx)) {
    return undefined;
  }
  ctx.vary('Accept-Encoding');
  if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
    return undefined;
  }
  return (isText ? compress(body, { level }) : compressOnce(body)).then((bytes) => {
    ctx.set('Content-Encoding', 'gzip');
    ctx.body = bytes;
    const { etag } = ctx.response.headers;
    if (typeof etag === 'string' && etag.startsWith('"')) {
      ctx.set('ETag', `W/${etag}`);
    }
  });
}
