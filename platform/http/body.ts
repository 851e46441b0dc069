import { koaBody, HttpMethodEnum } from 'koa-body';
import { AppError } from '../errors/app-error';
import type { HttpContext } from './context';
import { drain } from './drain';

/** Largest request body, unpacked. */
export const bodyLimitBytes = 1_048_576;

const parseJson = koaBody({
  json: true,
  jsonLimit: bodyLimitBytes,
  jsonTypes: ['application/json', '+json'],
  urlencoded: false,
  text: false,
  multipart: false,
  parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
});

const statusOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;

/** What the parser throws, as a refusal. Its messages may quote the body, so they stay here. */
function refusalOf(error: unknown): AppError {
  switch (statusOf(error)) {
    case 413:
      return new AppError('PAYLOAD_TOO_LARGE', 413, `A body may have at most ${bodyLimitBytes} bytes.`, {
        bodyLimitBytes,
      });
    case 415:
      return new AppError(
        'UNSUPPORTED_MEDIA_TYPE',
        415,
        'The content encoding is not supported: use gzip, deflate or none.',
      );
    default:
      return new AppError('BAD_REQUEST', 400, 'The body is not a JSON object or array.');
  }
}

/**
 * Reads the body as JSON; no body at all is an empty object. A `__proto__` key is malformed.
 *
 * @throws AppError 400 malformed, 413 too large, 415 another content type
 */
export async function readJsonBody(ctx: HttpContext): Promise<unknown> {
  const type = ctx.is('application/json', '+json');
  if (type === null) return {};
  if (type === false && ctx.request.length !== 0) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 415, 'Send the body as application/json.');
  }
  try {
    await parseJson(ctx, () => Promise.resolve());
  } catch (error) {
    ctx.set('Connection', 'close');
    await drain(ctx);
    throw refusalOf(error);
  }
  return ctx.request.body ?? {};
}
