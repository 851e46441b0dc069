import { type ScheduleDescription, ScheduleNotFoundError } from '@temporalio/client';
import type { SchedulerItemDetails } from '../../../contracts/runs/schedules/scheduler';
import { isEnabled, type Scheduled, type SchedulerContext } from './items';

type ScheduleState = Pick<SchedulerItemDetails, 'synchronized' | 'nextRuns' | 'counts'>;

/** How many of the next times are shown. */
const maxNextRuns = 10;

/** What Temporal shows of the Schedule of an item; one that is missing starts nothing yet. */
export async function readScheduleState(
  { deliverableSchedules, launchSchedules }: Pick<SchedulerContext, 'deliverableSchedules' | 'launchSchedules'>,
  scheduled: Scheduled,
): Promise<ScheduleState> {
  const { kind, record } = scheduled;
  const schedules = kind === 'scheduled-deliverable' ? deliverableSchedules : launchSchedules;
  let description: ScheduleDescription;
  try {
    description = await schedules.describe(record.id);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) {
      throw error;
    }
    return { synchronized: false, nextRuns: [], counts: { started: 0, missed: 0, overlapping: 0 } };
  }
  const { state, info } = description;
  return {
    synchronized: state.note === `revision ${record.revision}` && state.paused === !isEnabled(scheduled),
    nextRuns: info.nextActionTimes.slice(0, maxNextRuns).map((time) => time.toISOString()),
    counts: {
      started: info.numActionsTaken,
      missed: info.numActionsMissedCatchupWindow,
      overlapping: info.numActionsSkippedOverlap,
    },
  };
}
