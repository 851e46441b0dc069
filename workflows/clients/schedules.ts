import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { retentionKind } from '../../contracts/system/retention';
import { attachmentCleanupId } from '../attachment-cleanup/messages';
import { outputCleanupId } from '../output-cleanup/messages';
import { boardQueue } from '../queues';
import { reconcileId } from '../reconcile/messages';
import { retentionId, type RetentionInput } from '../retention/messages';
import { skillScanWorkflowId } from '../skill-scan/messages';

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
  { id: skillScanWorkflowId, every: '1 day', workflowType: 'skillScan', summary: 'scan skills that have changed' },
  { id: reconcileId, every: '1 minute', workflowType: 'reconcile', summary: 'recover runs without a workflow' },
  ...retentionKind.options.map((kind): Regular => ({
    id: retentionId(kind),
    every: '1 day',
    workflowType: 'retention',
    summary: `purge ${kind} past their retention`,
    input: { kind, dryRun: false },
  })),
];

/**
 * Creates the schedules that are not there: recurring work is Temporal's to remember.
 *
 * @param known those that are there; one that is there and not known stays as it is
 */
export async function ensureSchedules(client: Client, known: ReadonlyMap<string, unknown>): Promise<void> {
  for (const { id, every, workflowType, summary, input } of regular.filter(({ id }) => !known.has(id))) {
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
      if (!(error instanceof ScheduleAlreadyRunning)) {
        throw error;
      }
    }
  }
}

/** Triggers the reconciliation of lost runs now. */
export const reconcileNow = (client: Client): Promise<void> =>
  client.schedule.getHandle(reconcileId).trigger(ScheduleOverlapPolicy.SKIP);
