import type { Client, ScheduleDescription } from '@temporalio/client';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import {
  dropSchedule,
  ensureSchedule,
  type KeptSchedule,
  tryOutSchedule,
} from '../../platform/temporal/ensure-schedule';
import { checkSchedule } from './check-schedule';
import { withinDeadline } from './deadline';

const pending = () =>
  new AppError('SCHEDULE_PENDING', {
    status: 503,
    message: 'Temporal did not respond in time. Try again.',
    details: { retryAfterMs: 5_000 },
  });

/** The calls about Schedules that follow records, for those who call within a deadline. */
export function createScheduleClient(client: Client, log: Log) {
  /** @throws AppError 503 when Temporal does not respond in time */
  const within = <T>(call: () => Promise<T>): Promise<T> => withinDeadline(client, { pending }, call);
  /** The record stands: a failure is mended by the workers, which compare Schedules and records every minute. */
  const deferred = (scheduleId: string, change: () => Promise<void>): Promise<void> =>
    within(change).catch((error: unknown) => log.warn({ err: error, scheduleId }, 'schedule change deferred'));
  return {
    within,
    /**
     * Has Temporal read the times of a Schedule.
     *
     * @param path of these times in the request
     * @throws AppError 400 when Temporal cannot read them or they never come, 503
     */
    check: (path: string, schedule: KeptSchedule): Promise<void> =>
      checkSchedule(path, () => within(() => tryOutSchedule(client, schedule))),
    /** Makes the Schedule what it should be, now or by the workers later. */
    ensure: (schedule: KeptSchedule): Promise<void> =>
      deferred(schedule.scheduleId, () => ensureSchedule(client, schedule)),
    /** Removes the Schedule, now or by the workers later. */
    drop: (scheduleId: string): Promise<void> => deferred(scheduleId, () => dropSchedule(client, scheduleId)),
    /** @throws ScheduleNotFoundError when there is none yet; AppError 503 */
    describe: (scheduleId: string): Promise<ScheduleDescription> =>
      within(() => client.schedule.getHandle(scheduleId).describe()),
    /** @throws ScheduleNotFoundError when there is none yet; AppError 503 */
    trigger: (scheduleId: string): Promise<void> => within(() => client.schedule.getHandle(scheduleId).trigger()),
  };
}
