import { readRawBody } from '../../../platform/http/body/raw-body';
import type { HttpContext } from '../../../platform/http/context';
import { JsonLimitError, parseBoundedJson } from '../../../platform/json/bounded';
import { InvalidUtf8Error, utf8Text } from '../../../platform/json/utf8';
import { refuse } from '../http/errors';

/** The largest body of a call: it becomes a value of its run. */
export const maxWebhookBytes = 65_536;
const jsonLimits = { depth: 32, values: 10_000, nameLength: 200 };

/**
 * Reads the body of a call: JSON by its content type, any other text as it is.
 *
 * @throws AppError 400 for what is no text or not the JSON that it is declared as, 413 too large, 415 packed
 */
export async function readDelivery(ctx: HttpContext): Promise<{ body: string; isJson: boolean }> {
  const bytes = await readRawBody(ctx, maxWebhookBytes);
  const isJson = Boolean(ctx.is('application/json', '+json'));
  try {
    const text = utf8Text(bytes);
    // As the store has it, without what only some parsers read.
    const body = isJson ? JSON.stringify(parseBoundedJson(text, jsonLimits)) : text;
    if (body.includes('\0') || body.includes('\\u0000')) {
      throw refuse(400, 'The body must not contain NUL.');
    }
    return { body, isJson };
  } catch (error) {
    if (error instanceof InvalidUtf8Error) {
      throw refuse(400, 'The body is not valid UTF-8.');
    }
    if (error instanceof SyntaxError) {
      throw refuse(400, 'The body is not JSON.');
    }
    throw error instanceof JsonLimitError ? refuse(400, error.message) : error;
  }
}
