import { z } from 'zod';

/** A moment with any precision and zone, as stored timestamps are written, so that both compare as text. */
export const moment = z.iso.datetime({ offset: true }).transform((value) => new Date(value).toISOString());

/** `true` or `false` in a query. */
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** One part of a list: how many, and how many to pass over. */
export const paging = (limit: number, most: number) => ({
  limit: z.coerce.number().int().min(1).max(most).default(limit),
  offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
});
