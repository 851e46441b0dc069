import { HttpMethodEnum, koaBody } from 'koa-body';
import { AppError, validationError } from '../../errors/app-error';
import { findTooDeep, maxJsonDepth } from '../../json/depth';
import { findHalfCharacter } from '../../json/half-character';
import { utf8Text } from '../../json/utf8';
import type { HttpContext } from '../context';
import { drain } from '../server/drain';

/** Largest request body, unpacked. */
export const bodyLimitBytes = 1_048_576;

/** Unpacks the body; one character per byte, since a decoder would replace invalid ones. */
const readBytes = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: ['application/json', '+json'],
  textLimit: String(bodyLimitBytes),
  encoding: 'binary',
  parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
});

const statusOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;

/** What reading the body throws, as a refusal. Its messages may quote the body, so they stay here. */
function refusalOf(error: unknown): AppError {
  switch (statusOf(error)) {
    case 413:
      return new AppError('PAYLOAD_TOO_LARGE', {
        status: 413,
        message: `A body can have at most ${bodyLimitBytes} bytes.`,
        details: { bodyLimitBytes },
      });
    case 415:
      return new AppError('UNSUPPORTED_MEDIA_TYPE', {
        status: 415,
        message: 'The content encoding is not supported: use gzip, deflate or none.',
      });
    default:
      return malformed('The body is not a JSON object or array.');
  }
}

const malformed = (message: string): AppError => new AppError('BAD_REQUEST', { status: 400, message });

/** The value of a body; its text may contain nothing that a store or a reader would mistake for another. */
function parseBody(bytes: Buffer): unknown {
  let text: string;
  try {
    text = utf8Text(bytes);
  } catch {
    throw malformed('The body is not valid UTF-8.');
  }
  if (text === '') {
    return {};
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null) {
    throw malformed('The body is not a JSON object or array.');
  }
  const tooDeep = findTooDeep(value);
  if (tooDeep !== undefined) {
    const message = `is nested more than ${maxJsonDepth} levels deep`;
    throw validationError([{ path: tooDeep, message, code: 'too_deep' }]);
  }
  const halved = findHalfCharacter(text, value);
  if (halved !== undefined) {
    throw validationError([{ path: halved, message: 'must not have half of a character' }]);
  }
  if (text.includes('__proto__') || text.includes('\\u')) {
    assertNoPrototype(value);
  }
  return value;
}

/** @throws AppError 400; the value is known to be shallow */
function assertNoPrototype(value: object): void {
  if (Object.hasOwn(value, '__proto__')) {
    throw malformed('A field must not be named __proto__.');
  }
  for (const child of Object.values(value) as unknown[]) {
    if (typeof child === 'object' && child !== null) {
      assertNoPrototype(child);
    }
  }
}

/**
 * Reads the body as JSON; no body at all is an empty object. A `__proto__` key is malformed.
 *
 * @throws AppError 400 malformed, no UTF-8, with half of a character or nested too deeply, 413 too large, 415 another content type
 */
export async function readJsonBody(ctx: HttpContext): Promise<unknown> {
  const type = ctx.is('application/json', '+json');
  if (type === null) {
    return {};
  }
  if (type === false && ctx.request.length !== 0) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { status: 415, message: 'Send the body as application/json.' });
  }
  try {
    await readBytes(ctx, () => Promise.resolve());
  } catch (error) {
    ctx.set('Connection', 'close');
    await drain(ctx);
    throw refusalOf(error);
  }
  const sent: unknown = ctx.request.body;
  return typeof sent === 'string' ? parseBody(Buffer.from(sent, 'latin1')) : {};
}
