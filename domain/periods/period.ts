import type { Period, PeriodName, StatedPeriod } from '../../contracts/period';
import {
  addDays,
  calendarDayAt,
  dayMs,
  momentOf,
  parseDay,
  startOfDay,
  subtractMonths,
  timeOfDay,
  wallTimeAt,
  wallTimeOf,
  weekdayOf,
} from './zone';

/** What is wrong with a stated period, at a field of the query. */
export class PeriodError extends Error {
  override name = 'PeriodError';

  constructor(
    readonly field: 'period' | 'from' | 'to',
    message: string,
  ) {
    super(message);
  }
}

/** The longest custom period; `all` is for what is longer. */
export const maxPeriodDays = 1_830;

/** Periods of a number of days, each of 24 hours. */
const days: Partial<Record<PeriodName, number>> = { '24h': 1, '3d': 3, '7d': 7, '30d': 30 };
/** Periods of a number of months of the calendar. */
export const months: Partial<Record<PeriodName, number>> = { '3m': 3, '6m': 6, '12m': 12 };

/** When a period that ends now has begun, in milliseconds; `null` when it has no beginning. */
export function beginOf(name: PeriodName, zone: string, now: number): number | null {
  const today = calendarDayAt(zone, now);
  const lastDays = days[name];
  if (lastDays !== undefined) {
    return now - lastDays * dayMs;
  }
  const lastMonths = months[name];
  if (lastMonths !== undefined) {
    return momentOf(zone, wallTimeOf(subtractMonths(today, lastMonths), timeOfDay(wallTimeAt(zone, now))));
  }
  switch (name) {
    case 'today':
      return startOfDay(zone, today);
    case 'wtd':
      return startOfDay(zone, addDays(today, -weekdayOf(today)));
    case 'mtd':
      return startOfDay(zone, { ...today, day: 1 });
    case 'ytd':
      return startOfDay(zone, { ...today, month: 1, day: 1 });
    default:
      return null;
  }
}

const isDay = (text: string): boolean => !text.includes('T');

function customBounds({ from, to, tz }: StatedPeriod, end: number): { from: number | null; to: number } {
  if (from === undefined && to === undefined) {
    throw new PeriodError('from', 'A custom period needs from, to or both.');
  }
  const begin = from === undefined ? null : isDay(from) ? startOfDay(tz, parseDay(from)) : Date.parse(from);
  // The day that is stated as the end belongs to the period.
  const stop = to === undefined ? end : isDay(to) ? startOfDay(tz, addDays(parseDay(to), 1)) : Date.parse(to);
  if (begin !== null && begin >= stop) {
    throw new PeriodError(to === undefined ? 'from' : 'to', 'The period ends before it begins.');
  }
  if (begin !== null && stop - begin > maxPeriodDays * dayMs) {
    throw new PeriodError('from', `A custom period has at most ${maxPeriodDays} days.`);
  }
  return { from: begin, to: stop };
}

/**
 * The bounds of a stated period. Those that last until now include this millisecond.
 *
 * @throws PeriodError for a period that has no bounds, or other ones than its name has
 */
export function resolvePeriod(stated: StatedPeriod, now: Date): Period {
  const { period, from, to, tz } = stated;
  const isBounded = from !== undefined || to !== undefined;
  if (period !== undefined && period !== 'custom' && isBounded) {
    throw new PeriodError(from === undefined ? 'to' : 'from', `Only a custom period takes from and to, not ${period}.`);
  }
  const name = period ?? (isBounded ? 'custom' : '7d');
  const end = now.getTime() + 1;
  const bounds = name === 'custom' ? customBounds(stated, end) : { from: beginOf(name, tz, now.getTime()), to: end };
  return {
    name,
    from: bounds.from === null ? null : new Date(bounds.from).toISOString(),
    to: new Date(bounds.to).toISOString(),
    timeZone: tz,
  };
}
