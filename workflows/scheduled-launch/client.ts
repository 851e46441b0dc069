import { randomUUID } from 'node:crypto';
import type { Client, ScheduleDescription } from '@temporalio/client';
import type { LaunchSpec } from '../../contracts/runs/launch/scheduled-launch';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule, tryOutSchedule } from '../../platform/temporal/ensure-schedule';
import type { ScheduledLaunchRecord } from '../../stores/runs/launch/scheduled-launch-store';
import { checkSchedule } from '../clients/check-schedule';
import { withinDeadline } from '../clients/deadline';
import { launchSchedule, launchScheduleId } from './messages';

/** The Schedules in Temporal, which follow the definitions. */
export interface LaunchSchedules {
  /** @throws AppError 400 when Temporal cannot read the times or they never come, 503 */
  check(spec: LaunchSpec): Promise<void>;
  follow(definition: ScheduledLaunchRecord): Promise<void>;
  drop(id: string): Promise<void>;
  trigger(id: string): Promise<void>;
  /** @throws ScheduleNotFoundError when there is none yet; AppError 503 */
  describe(id: string): Promise<ScheduleDescription>;
}

const pending = () =>
  new AppError('SCHEDULE_PENDING', {
    status: 503,
    message: 'Temporal did not respond in time. Try again.',
    details: { retryAfterMs: 5_000 },
  });

/** The Schedules behind the endpoints of scheduled launches. */
export function createLaunchSchedules(client: Client, log: Log): LaunchSchedules {
  const within = <T>(call: () => Promise<T>) => withinDeadline(client, { pending }, call);
  return {
    async check(spec) {
      const tried = launchSchedule({ id: `check-${randomUUID()}`, taskId: '', spec, paused: true, revision: 0 });
      const path = 'cron' in spec ? 'spec.cron' : 'spec';
      await checkSchedule(path, () => within(() => tryOutSchedule(client, tried)));
    },
    async follow(definition) {
      // The definition stands; a failure here is reconciled by the workers, which compare both every minute.
      await within(() => ensureSchedule(client, launchSchedule(definition))).catch((error: unknown) =>
        log.warn({ err: error, id: definition.id }, 'launch schedule creation deferred'),
      );
    },
    async drop(id) {
      await within(() => dropSchedule(client, launchScheduleId(id))).catch((error: unknown) =>
        log.warn({ err: error, id }, 'launch schedule removal deferred'),
      );
    },
    describe: (id) => within(() => client.schedule.getHandle(launchScheduleId(id)).describe()),
    trigger: (id) => within(() => client.schedule.getHandle(launchScheduleId(id)).trigger()),
  };
}
