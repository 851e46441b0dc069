import { randomUUID } from 'node:crypto';
import type { Client, ScheduleDescription } from '@temporalio/client';
import type { LaunchSpec } from '../../contracts/runs/launch/scheduled-launch';
import type { Log } from '../../platform/log/log';
import type { ScheduledLaunchRecord } from '../../stores/runs/launch/scheduled-launch-store';
import { createScheduleClient } from '../clients/schedule-client';
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

/** The Schedules behind the endpoints of scheduled launches. */
export function createLaunchSchedules(client: Client, log: Log): LaunchSchedules {
  const schedules = createScheduleClient(client, log);
  return {
    check: (spec) =>
      schedules.check(
        'cron' in spec ? 'spec.cron' : 'spec',
        launchSchedule({ id: `check-${randomUUID()}`, taskId: '', spec, paused: true, revision: 0 }),
      ),
    follow: (definition) => schedules.ensure(launchSchedule(definition)),
    drop: (id) => schedules.drop(launchScheduleId(id)),
    describe: (id) => schedules.describe(launchScheduleId(id)),
    trigger: (id) => schedules.trigger(launchScheduleId(id)),
  };
}
