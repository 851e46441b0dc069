import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { attachmentCleanupId } from '../workflows/attachment-cleanup/messages';
import { outputCleanupId } from '../workflows/output-cleanup/messages';
import { retentionKind } from '../contracts/retention';
import { retentionId, type RetentionInput } from '../workflows/retention/messages';
import { boardQueue } from '../workflows/queues';
import { reconcileId } from '../workflows/reconcile/messages';

interface Regular {
  id: string;
  every: '1 day' | '1 hour' | '1 minute';
  workflowType: string;
  summary: string;
  input?: RetentionInput;
}

const regular: readonly Regular[] = [
  { id: outputCleanupId, every: '1 hour', workflowType: 'outputCleanup', summary: 'remove expired output of runs' },
  {
    id: attachmentCleanupId,
    every: '1 hour',
    workflowType: 'attachmentCleanup',
    summary: 'remove contents of attachments that are on no task',
  },
  { id: reconcileId, every: '1 minute', workflowType: 'reconcile', summary: 'take up runs whose workflow was lost' },
  ...retentionKind.options.map((kind): Regular => ({
    id: retentionId(kind),
    every: '1 day',
    workflowType: 'retention',
    summary: `purge ${kind} that were kept long enough`,
    input: { kind, dryRun: false },
  })),
];

/** Makes the schedules that are not there yet: what is to be done again and again is Temporal's to remember. */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const { id, every, workflowType, summary, input } of regular) {
    try {
      await client.schedule.create({
        scheduleId: id,
        spec: { intervals: [{ every }] },
        // One that was missed is made good by the next one.
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
        action: {
          type: 'startWorkflow',
          workflowType,
          workflowId: id,
          taskQueue: boardQueue,
          staticSummary: summary,
          ...(input ? { args: [input] } : {}),
        },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}

/** Has lost runs looked for now. */
export const reconcileNow = (client: Client): Promise<void> =>
  client.schedule.getHandle(reconcileId).trigger(ScheduleOverlapPolicy.SKIP);
