import { z } from 'zod';
import type { Position } from '../../platform/lists/page';

const content = z.tuple([z.literal('deliveries'), z.string().max(100), z.string().max(1_000)]);

function contentOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Where a page of deliveries ended, as callers send it back: only what this list has given. */
export const deliveryCursor = z
  .string()
  .max(2_000)
  .transform((text, ctx): Position => {
    const parsed = content.safeParse(contentOf(text));
    if (parsed.success) {
      return { key: parsed.data[1], id: parsed.data[2] };
    }
    ctx.addIssue({ code: 'custom', message: 'is not a cursor of this list' });
    return z.NEVER;
  });

/** The cursor for what comes after a delivery. */
export const deliveryCursorAt = ({ key, id }: Position): string =>
  Buffer.from(JSON.stringify(['deliveries', key, id])).toString('base64url');
