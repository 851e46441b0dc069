import { text } from './common';

/** Five fields, or a name for them: no seconds. What the fields mean is Temporal's to read. */
export const cronExpression = text(200, 1).regex(
  /^(\S+( \S+){4}|@(hourly|daily|weekly|monthly|yearly))$/,
  'five fields, or @hourly, @daily, @weekly, @monthly or @yearly',
);

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

/** The name of a time zone, as the schedules of Temporal take it. */
export const timezoneName = text(64, 1).refine(isTimezone, 'must be a time zone such as Europe/Berlin');
