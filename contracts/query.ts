import { z } from 'zod';
import { cursor } from './cursor';

/** The years with four digits, in milliseconds. Stored times are compared as text, and those of others are written with a sign. */
export const storedTimes = {
  firstMs: Date.parse('0000-01-01T00:00:00.000Z'),
  lastMs: Date.parse('9999-12-31T23:59:59.999Z'),
} as const;

/**
 * A moment with any precision and zone, as stored timestamps are written, so that both compare as text. An offset can lead out of
 * the years with four digits: those beyond them are written with a sign, which sorts before every digit.
 */
export const moment = z.iso
  .datetime({ offset: true })
  .transform((value) => new Date(value).toISOString())
  .refine((value) => /^\d{4}-/.test(value), 'must be of the years 0000 to 9999 in UTC');

/** `true` or `false` in a query. */
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** One page of a list that is read by following its cursor. */
export const listPage = (limit: number, most: number) => ({
  limit: z.coerce.number().int().min(1).max(most).default(limit),
  cursor: cursor.optional(),
});

/** The same for a list that can also be read from an offset: how many items to pass over. */
export const paging = (limit: number, most: number) => ({
  ...listPage(limit, most),
  offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
});

/** Of a list that is an object: the `cursor` of what comes next; absent at its end. */
export const nextCursor = z.string().optional();

/** Query values that may be repeated, or occur once. */
export const several = <T extends z.ZodType>(item: T) =>
  z
    .union([item, z.array(item).max(20)])
    .transform((value) => (Array.isArray(value) ? value : [value]) as z.output<T>[])
    .optional();
