import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ScheduledWorkflowActivities } from '../../activities/scheduled-workflow/activities';

const { startScheduledRun } = proxyActivities<ScheduledWorkflowActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 20 },
  summary: 'start a workflow run by schedule',
});

/** Starts a run of a workflow of the board, once for each start by its Schedule. */
export async function scheduledWorkflow(id: string): Promise<string> {
  const { runId: occurrence, startTime } = workflowInfo();
  const outcome = await startScheduledRun({ id, occurrence, startedAt: startTime.toISOString() });
  setCurrentDetails(outcome);
  return outcome;
}
