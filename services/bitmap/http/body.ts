import type { Context } from 'koa';
import { utf8Text } from '../../../platform/json/utf8';
import { Refusal } from './reply';

/** A schema of tens of thousands of fields; a longer text would block all callers while it is read. */
const largestDescription = 4 * 1_048_576;

/** Reads the body of a call that defines indexes, fields or frames. @throws Refusal 413 */
export const readDescription = (ctx: Context, bodyLimit: number): Promise<Buffer> =>
  readBody(ctx, Math.min(bodyLimit, largestDescription));

/**
 * Reads the whole body.
 *
 * @throws Refusal 413 as soon as it is known to be too large
 */
export async function readBody(ctx: Context, limit: number): Promise<Buffer> {
  const encoding = ctx.get('Content-Encoding');
  if (encoding && encoding !== 'identity') {
    throw new Refusal(415, `the content encoding ${encoding} is not supported`);
  }
  const tooLarge = new Refusal(413, `the body is larger than ${limit} bytes`);
  if (Number(ctx.get('Content-Length') || 0) > limit) {
    throw tooLarge;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      throw tooLarge;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** The text of a query. @throws Refusal 400 when it is not UTF-8: other keys and names than were sent would be looked for */
export function queryText(body: Buffer, form: Refusal['form']): string {
  try {
    return utf8Text(body);
  } catch {
    throw new Refusal(400, 'the query is not valid UTF-8', { form });
  }
}
