import { calendarDayAt, startOfDay, subtractMonths } from '../periods/zone';

/** From the first moment of a period to the first after it, in milliseconds since 1970. */
export interface Period {
  from: number;
  to: number;
}

/** The month of a zone that a moment is in. */
export function monthOf(at: number, timeZone: string): Period {
  const first = { ...calendarDayAt(timeZone, at), day: 1 };
  return { from: startOfDay(timeZone, first), to: startOfDay(timeZone, subtractMonths(first, -1)) };
}
