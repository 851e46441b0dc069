import { momentOf, wallTimeAt } from './zone';

/**
 * When clocks of the zone showed the time of a moment before, because they were set back in between; `undefined` for every other
 * moment.
 */
export function earlierShown(zone: string, moment: number): number | undefined {
  const first = momentOf(zone, wallTimeAt(zone, moment));
  return first < moment ? first : undefined;
}

/** Whether a cron expression names its hours and minutes: what is due every hour, or every minute, is due in each of them. */
export function namesItsTime(cron: string): boolean {
  const [minute = '', hour = ''] = cron.split(' ');
  return cron.startsWith('@') ? cron !== '@hourly' : !minute.includes('*') && !hour.includes('*');
}
