import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { outputCleanupId } from '../workflows/output-cleanup/messages';
import { boardQueue } from '../workflows/queues';

/** Makes the schedules that are not there yet: what is to be done again and again is Temporal's to remember. */
export async function ensureSchedules(client: Client): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: outputCleanupId,
      spec: { intervals: [{ every: '1 hour' }] },
      // One that was missed is made good by the next one.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: 'outputCleanup',
        workflowId: outputCleanupId,
        taskQueue: boardQueue,
        staticSummary: 'remove expired output of runs',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
