import { z } from 'zod';
import type { HttpContext } from '../../../platform/http/context';
import { linkNext, type ListRequest } from '../../../platform/http/list-response';

const usualLimit = 20;
const maxPerPage = 100;
/** Beyond what any list here has: `Link` leads to the end of each. */
const farthestOffset = 1_000_000_000;

/** A whole number; anything outside its bounds is taken for the nearest one within. */
const clamped = (least: number, most: number, fallback: number) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform((text) => Math.min(most, Math.max(least, Number(text))))
    .default(fallback);

/** `page[limit]` and `page[offset]` of a query, to be spread into its schema. */
export const pageFields = {
  'page[limit]': clamped(1, maxPerPage, usualLimit),
  'page[offset]': clamped(0, farthestOffset, 0),
};
export const pageQuery = z.strictObject(pageFields);
export interface PageQuery {
  'page[limit]': number;
  'page[offset]': number;
}

/** The schema of a list's response. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), meta: z.object({ has_more: z.boolean() }) });

export interface Page<T> {
  data: T[];
  meta: { has_more: boolean };
}

/**
 * One page of what `read` finds.
 *
 * @param read returns at most `limit` items after the first `skip`
 */
export async function readPage<T>(
  { 'page[limit]': limit, 'page[offset]': offset }: PageQuery,
  read: (options: { skip: number; limit: number }) => Promise<T[]>,
): Promise<Page<T>> {
  // One more than requested shows whether there is more.
  const items = await read({ skip: offset, limit: limit + 1 });
  return { data: items.slice(0, limit), meta: { has_more: items.length > limit } };
}

const pageRequest = z.object({ 'page[limit]': z.number(), 'page[offset]': z.number() });
const unfinished = z.object({ data: z.array(z.unknown()), meta: z.object({ has_more: z.literal(true) }) });

/** Links to the page after this one (RFC 8288), whichever list of the service it is; not at the end. */
export function linkNextPage(ctx: HttpContext, { query }: ListRequest, result: unknown): void {
  const asked = pageRequest.safeParse(query);
  if (!asked.success || !unfinished.safeParse(result).success) {
    return;
  }
  const { 'page[limit]': limit, 'page[offset]': offset } = asked.data;
  linkNext(ctx, 'page[offset]', String(offset + limit));
}

/** One page of a list that is in memory. */
export const pageFrom = <T>(items: readonly T[], query: PageQuery): Promise<Page<T>> =>
  readPage(query, ({ skip, limit }) => Promise.resolve(items.slice(skip, skip + limit)));
