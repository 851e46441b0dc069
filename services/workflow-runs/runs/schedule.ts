import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { dispatchId } from './execution/messages';

/**
 * Has queued runs dispatched every minute, also those that were accepted while Temporal could not be reached.
 */
export async function ensureDispatch(client: Client, taskQueue: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: dispatchId(taskQueue),
      spec: { intervals: [{ every: '1 minute' }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: 'workflowRunDispatch',
        workflowId: `${dispatchId(taskQueue)}/regular`,
        taskQueue,
        args: [0],
        staticSummary: 'start queued workflow runs',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) {
      throw error;
    }
  }
}
