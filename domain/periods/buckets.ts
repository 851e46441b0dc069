import type { Period } from '../../contracts/period';
import {
  addDays,
  type CalendarDay,
  calendarDayAt,
  dayMs,
  formatDay,
  startOfDay,
  subtractMonths,
  wallTimeAt,
  weekdayOf,
} from './zone';

export type BucketUnit = 'hour' | 'day' | 'week' | 'month';

/** A part of a period, from `from` until before `to`. */
export interface Bucket {
  /** Its first day in the time zone, with the time for an hour: `2026-01-31`, `2026-01-31T09:00`. */
  label: string;
  from: number;
  to: number;
}

const hourMs = 3_600_000;
/** The longest periods of each unit, so that none has more than about a hundred parts. */
const longest: [BucketUnit, number][] = [
  ['hour', 2 * dayMs],
  ['day', 93 * dayMs],
  ['week', 2 * 366 * dayMs],
];

/** The unit in which a span of time is shown. */
export const unitOf = (spanMs: number): BucketUnit => longest.find(([, most]) => spanMs <= most)?.[0] ?? 'month';

/** The first day of the week or the month of a day, or the day itself. */
function firstDay(unit: BucketUnit, day: CalendarDay): CalendarDay {
  if (unit === 'week') {
    return addDays(day, -weekdayOf(day));
  }
  return unit === 'month' ? { ...day, day: 1 } : day;
}

function nextDay(unit: BucketUnit, day: CalendarDay): CalendarDay {
  return unit === 'month' ? subtractMonths(day, -1) : addDays(day, unit === 'week' ? 7 : 1);
}

const hourLabel = (zone: string, moment: number): string =>
  new Date(wallTimeAt(zone, moment)).toISOString().slice(0, 16);

/** The whole hours of a zone whose clocks are a part of an hour off UTC begin there. */
function hours(zone: string, from: number, to: number): Bucket[] {
  const sinceHour = ((wallTimeAt(zone, from) % hourMs) + hourMs) % hourMs;
  const parts: Bucket[] = [];
  for (let at = from - sinceHour; at < to; at += hourMs) {
    parts.push({ label: hourLabel(zone, at), from: Math.max(at, from), to: Math.min(at + hourMs, to) });
  }
  return parts;
}

/**
 * The parts of a period in its time zone, without gaps: the first and the last one end where the period does. Days of a change
 * of clocks have 23 or 25 hours.
 *
 * @param begin the beginning of a period that has none, in milliseconds
 */
export function bucketsOf({ from, to, timeZone }: Period, begin: number): { unit: BucketUnit; buckets: Bucket[] } {
  const end = Date.parse(to);
  const start = Math.min(from === null ? begin : Date.parse(from), end - 1);
  const unit = unitOf(end - start);
  if (unit === 'hour') {
    return { unit, buckets: hours(timeZone, start, end) };
  }
  const buckets: Bucket[] = [];
  let day = firstDay(unit, calendarDayAt(timeZone, start));
  let at = start;
  while (at < end) {
    const following = nextDay(unit, day);
    const stop = Math.min(startOfDay(timeZone, following), end);
    // A day that a zone has skipped, when it moved to the other side of the date line, has no moment.
    if (stop > at) {
      buckets.push({ label: formatDay(day), from: at, to: stop });
      at = stop;
    }
    day = following;
  }
  return { unit, buckets };
}

/** Finds the part that a moment is in, or `undefined` outside of the period. */
export function bucketAt<B extends Pick<Bucket, 'from' | 'to'>>(buckets: readonly B[], moment: number): B | undefined {
  let low = 0;
  let high = buckets.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const bucket = buckets[middle];
    if (!bucket) {
      return undefined;
    }
    if (moment < bucket.from) {
      high = middle - 1;
    } else if (moment >= bucket.to) {
      low = middle + 1;
    } else {
      return bucket;
    }
  }
  return undefined;
}
