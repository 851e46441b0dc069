import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule } from '../../platform/temporal/ensure-schedule';
import type { ScheduledLaunchStore } from '../../stores/runs/launch/scheduled-launch-store';
import { isLaunchSchedule, launchSchedule, launchScheduleId } from './messages';

/**
 * Makes the Schedules of launches match their definitions: one may be missing or stale after a crash between the write of a
 * definition and that of its Schedule.
 */
export async function reconcileLaunchSchedules(
  client: Client,
  { scheduledLaunches, log }: { scheduledLaunches: Pick<ScheduledLaunchStore, 'list'>; log: Log },
): Promise<void> {
  // Schedules first: each is made after its definition, so that one without a definition is stale.
  const scheduleIds: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) {
    if (isLaunchSchedule(scheduleId)) {
      scheduleIds.push(scheduleId);
    }
  }
  const definitions = await scheduledLaunches.list();
  const expected = new Set(definitions.map(({ id }) => launchScheduleId(id)));
  for (const scheduleId of scheduleIds.filter((id) => !expected.has(id))) {
    await dropSchedule(client, scheduleId);
  }
  for (const definition of definitions) {
    await ensureSchedule(client, launchSchedule(definition)).catch((error: unknown) =>
      log.warn({ err: error, id: definition.id }, 'launch schedule creation failed'),
    );
  }
}
