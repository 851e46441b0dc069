import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ScheduledLaunchActivities } from '../../activities/scheduled-launch/activities';

const { launchScheduled } = proxyActivities<ScheduledLaunchActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 20 },
  summary: 'launch by schedule',
});

/** Launches a definition, once for each start by its Schedule. */
export async function scheduledLaunch(id: string): Promise<string> {
  const outcome = await launchScheduled({ id, occurrence: workflowInfo().runId });
  setCurrentDetails(outcome);
  return outcome;
}
