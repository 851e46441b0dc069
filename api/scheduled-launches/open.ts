import { randomUUID } from 'node:crypto';
import { AppError, validationError } from '../../platform/errors/app-error';
import { dropSchedule, keepSchedule, tryOutSchedule } from '../../platform/temporal/kept-schedule';
import { createScheduledLaunchStore, createScheduledOutcomeStore } from '../../stores/scheduled-launch-store';
import { launchSchedule, launchScheduleId } from '../../workflows/scheduled-launch/messages';
import type { OpenArea } from '../durable-context';
import { withinDeadline } from '../temporal/deadline';
import { scheduledLaunchRoutes, type LaunchSchedules } from './routes';

const pending = () =>
  new AppError('SCHEDULE_PENDING', 503, 'Temporal has not answered in time. Ask again.', { retryAfterMs: 5_000 });

export const openScheduledLaunches: OpenArea = async ({ client, database, board, log }) => {
  const within = <T>(call: () => Promise<T>) => withinDeadline(client, pending, call);
  const schedules: LaunchSchedules = {
    async check(spec) {
      const tried = launchSchedule({ id: `check-${randomUUID()}`, taskId: '', spec, paused: true, revision: 0 });
      try {
        await within(() => tryOutSchedule(client, tried));
      } catch (error) {
        // The client answers a refused argument with this, and with the server's words.
        if (!(error instanceof TypeError)) throw error;
        throw validationError([{ path: 'cron' in spec ? 'spec.cron' : 'spec', message: error.message }]);
      }
    },
    async follow(definition) {
      // The definition stands; what fails here is mended by the workers, who compare both every minute.
      await within(() => keepSchedule(client, launchSchedule(definition))).catch((error: unknown) =>
        log.warn({ err: error, id: definition.id }, 'the schedule of a launch is made later'),
      );
    },
    async drop(id) {
      await within(() => dropSchedule(client, launchScheduleId(id))).catch((error: unknown) =>
        log.warn({ err: error, id }, 'the schedule of a launch is removed later'),
      );
    },
    trigger: (id) => within(() => client.schedule.getHandle(launchScheduleId(id)).trigger()),
  };
  const scheduledLaunches = await createScheduledLaunchStore(database);
  const scheduledOutcomes = await createScheduledOutcomeStore(database);
  return (routes) => scheduledLaunchRoutes(routes, { board, schedules, scheduledLaunches, scheduledOutcomes });
};
