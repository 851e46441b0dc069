/** A day of a calendar; months count from 1. */
export interface CalendarDay {
  year: number;
  month: number;
  day: number;
}

/** What clocks show in a time zone, in milliseconds as if it were UTC: differences to UTC are the offset. */
type WallTime = number;

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** No zone is further from UTC than this, in either direction. */
const maxOffsetMs = 26 * hourMs;

const formatters = new Map<string, Intl.DateTimeFormat>();
/** More spellings of zone names than this are not retained: names are compared without their case. */
const maxFormatters = 500;

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formatters.size >= maxFormatters) {
      formatters.clear();
    }
    formatters.set(zone, formatter);
  }
  return formatter;
}

const utcOf = ({ year, month, day }: CalendarDay): number => Date.UTC(year, month - 1, day);

/** What clocks of the zone show at a moment. */
export function wallTimeAt(zone: string, moment: number): WallTime {
  const parts = Object.fromEntries(
    formatterOf(zone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  );
  const number = (name: string) => Number(parts[name]);
  const day = utcOf({ year: number('year'), month: number('month'), day: number('day') });
  const milliseconds = ((moment % 1000) + 1000) % 1000;
  return day + number('hour') * hourMs + number('minute') * 60_000 + number('second') * 1000 + milliseconds;
}

/** The day that calendars of the zone show at a moment. */
export function calendarDayAt(zone: string, moment: number): CalendarDay {
  const wall = new Date(wallTimeAt(zone, moment));
  return { year: wall.getUTCFullYear(), month: wall.getUTCMonth() + 1, day: wall.getUTCDate() };
}

/**
 * The first moment at which clocks of the zone show this time. Where they are put forward over it, the moment at which they are:
 * a day that has no midnight begins with its first moment.
 */
export function momentOf(zone: string, wall: WallTime): number {
  const around = [wall - maxOffsetMs, wall, wall + maxOffsetMs];
  const offsets = new Set(around.map((moment) => wallTimeAt(zone, moment) - moment));
  const shown = [...offsets].map((offset) => wall - offset).filter((moment) => wallTimeAt(zone, moment) === wall);
  if (shown.length > 0) {
    return Math.min(...shown);
  }
  const candidates = [...offsets].map((offset) => wall - offset);
  let before = Math.min(...candidates) - 1;
  let after = Math.max(...candidates);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallTimeAt(zone, middle) < wall) {
      before = middle;
    } else {
      after = middle;
    }
  }
  return after;
}

/** The first moment of a day. */
export const startOfDay = (zone: string, day: CalendarDay): number => momentOf(zone, utcOf(day));

/** The day that many days later. */
export function addDays(day: CalendarDay, days: number): CalendarDay {
  const date = new Date(utcOf(day) + days * dayMs);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** The same day of the month that many months earlier, or the last day of that month where it is shorter. */
export function subtractMonths({ year, month, day }: CalendarDay, months: number): CalendarDay {
  const index = year * 12 + (month - 1) - months;
  const target = { year: Math.floor(index / 12), month: (((index % 12) + 12) % 12) + 1 };
  const lastDay = new Date(utcOf({ ...target, month: target.month + 1, day: 1 }) - dayMs).getUTCDate();
  return { ...target, day: Math.min(day, lastDay) };
}

/** 0 for Monday to 6 for Sunday. */
export const weekdayOf = (day: CalendarDay): number => (new Date(utcOf(day)).getUTCDay() + 6) % 7;

/** @param text `2026-01-31` */
export function parseDay(text: string): CalendarDay {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return { year, month, day };
}

/** `2026-01-31`. */
export const formatDay = (day: CalendarDay): string => new Date(utcOf(day)).toISOString().slice(0, -14);

/** The time of day that clocks show, in milliseconds since midnight. */
export const timeOfDay = (wall: WallTime): number => ((wall % dayMs) + dayMs) % dayMs;

/** A day with a time of day, as clocks show it. */
export const wallTimeOf = (day: CalendarDay, time: number): WallTime => utcOf(day) + time;
