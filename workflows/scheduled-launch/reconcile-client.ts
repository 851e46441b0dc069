import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import type { ScheduledLaunchStore } from '../../stores/runs/launch/scheduled-launch-store';
import { type ListedSchedules, reconcileSchedules } from '../clients/listed-schedules';
import { isLaunchSchedule, launchSchedule } from './messages';

/** Makes the Schedules of launches match their definitions. */
export async function reconcileLaunchSchedules(
  client: Client,
  listed: ListedSchedules,
  { scheduledLaunches, log }: { scheduledLaunches: Pick<ScheduledLaunchStore, 'list'>; log: Log },
): Promise<void> {
  const expected = (await scheduledLaunches.list()).map(launchSchedule);
  await reconcileSchedules(client, { listed, isOfKind: isLaunchSchedule, expected, log });
}
