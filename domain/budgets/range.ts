import type { PeriodName } from '../../contracts/period';
import { beginOf, months } from '../periods/period';
import { calendarDayAt, startOfDay } from '../periods/zone';
import { quarterMs } from './spend';

/** A period of metrics; without a beginning it is all of the past. */
export interface Range {
  from?: number;
  to: number;
}

export interface AskedRange {
  period: PeriodName;
  timeZone: string;
  from?: string | undefined;
  to?: string | undefined;
}

/** The period as it is counted: from the quarter of an hour that it begins in to the end of the one that it ends in. */
export function rangeOf(asked: AskedRange, at: number): Range {
  const from = beginningOf(asked, at);
  const to = asked.to === undefined ? at : Date.parse(asked.to);
  return {
    ...(from === undefined ? {} : { from: Math.floor(from / quarterMs) * quarterMs }),
    to: Math.ceil((asked.to === undefined ? to + 1 : to) / quarterMs) * quarterMs,
  };
}

function beginningOf({ period, timeZone, from }: AskedRange, at: number): number | undefined {
  if (period === 'custom') {
    return from === undefined ? undefined : Date.parse(from);
  }
  const begin = beginOf(period, timeZone, at) ?? undefined;
  // Months are counted from the beginning of their first day.
  return begin !== undefined && months[period] !== undefined
    ? startOfDay(timeZone, calendarDayAt(timeZone, begin))
    : begin;
}
