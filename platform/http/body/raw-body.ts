import { AppError } from '../../errors/app-error';
import type { HttpContext } from '../context';
import { drain } from '../server/drain';
import { bodyLimitBytes } from './body';

/**
 * Reads the bytes of a body as they were sent, for what is signed.
 *
 * @throws AppError 400 when it ends early, 413 too large, 415 when it is packed: a signature is of what was sent
 */
export async function readRawBody(ctx: HttpContext, limitBytes: number = bodyLimitBytes): Promise<Buffer> {
  const encoding = ctx.get('Content-Encoding');
  if (encoding !== '' && encoding !== 'identity') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { status: 415, message: 'Send the body without a content encoding.' });
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { req } = ctx;
  const whole = await new Promise<boolean>((resolve) => {
    const done = (within: boolean) => (): void => {
      req.off('data', take).off('end', ended).off('close', ended).off('error', ended);
      resolve(within);
    };
    const ended = done(true);
    const exceeded = done(false);
    function take(chunk: Buffer): void {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > limitBytes) {
        exceeded();
      }
    }
    req.on('data', take).on('end', ended).on('close', ended).on('error', ended);
  });
  if (!whole) {
    ctx.set('Connection', 'close');
    await drain(ctx);
    throw new AppError('PAYLOAD_TOO_LARGE', {
      status: 413,
      message: `A body can have at most ${limitBytes} bytes.`,
      details: { bodyLimitBytes: limitBytes },
    });
  }
  if (!req.complete) {
    throw new AppError('BAD_REQUEST', { status: 400, message: 'The body ended early.' });
  }
  return Buffer.concat(chunks);
}
