import { z } from 'zod';

/** Where a page of a list ended: the sort key and the id of its last item. */
export const cursorContent = z.strictObject({
  v: z.literal(1),
  /** Names the list with its filters: a cursor of one list is invalid for another. */
  list: z.string().max(32),
  key: z.union([z.string().max(2_000), z.number()]),
  id: z.string().max(1_000),
});
export type Cursor = z.infer<typeof cursorContent>;

function contentOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A cursor as callers have it, opaque to them: base64url of its JSON. */
export const cursor = z
  .string()
  .max(8_000)
  .transform((text, ctx): Cursor => {
    const parsed = cursorContent.safeParse(contentOf(text));
    if (parsed.success) {
      return parsed.data;
    }
    ctx.addIssue({ code: 'custom', message: 'is not a cursor issued by this service' });
    return z.NEVER;
  });
