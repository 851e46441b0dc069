import { z } from 'zod';
import { timestamp } from './common';
import { moment } from './query';

export const periodName = z.enum([
  ...(['today', '24h', '3d', '7d', '30d', '3m', '6m', '12m'] as const),
  ...(['wtd', 'mtd', 'ytd', 'all', 'custom'] as const),
]);
export type PeriodName = z.infer<typeof periodName>;

/** Whether the runtime knows an IANA time zone of this name. */
function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The name of an IANA time zone, such as `Europe/Berlin`. */
export const timeZone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, { message: 'must be the name of an IANA time zone', abort: true })
  .refine(isTimeZone, { message: 'must be the name of an IANA time zone', abort: true });

/** A day of a calendar, `2026-01-31`. */
export const calendarDate = z.iso.date();

const ofPeriods = [
  (text: string) => text >= '1970' && text < '2200',
  { message: 'must be of the years 1970 to 2199', abort: true },
] as const;

/** A moment of the years 1970 to 2199. */
export const periodMoment = moment.refine(...ofPeriods);

/** A day or a moment of the years 1970 to 2199. */
const dayOrMoment = z.union([calendarDate, moment]).refine(...ofPeriods);

/** What a query states about its period. Days are those of the time zone; a day as `to` belongs to the period. */
export const periodFields = {
  /** `custom` when only `from` or `to` is stated, and `7d` when nothing is. */
  period: periodName.optional(),
  from: dayOrMoment.optional(),
  to: dayOrMoment.optional(),
  tz: timeZone.default('UTC'),
};
export type StatedPeriod = z.output<z.ZodObject<typeof periodFields>>;

/** The period that an answer is about: from `from`, which is absent when it has no beginning, until before `to`. */
export const period = z
  .object({ name: periodName, from: timestamp.nullable(), to: timestamp, timeZone: z.string() })
  .meta({ id: 'Period' });
export type Period = z.infer<typeof period>;
