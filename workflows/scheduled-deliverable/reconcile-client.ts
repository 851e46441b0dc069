import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import type { ScheduledDeliverableRunStore } from '../../stores/runs/schedules/scheduled-deliverable-run-store';
import type { ScheduledDeliverableStore } from '../../stores/runs/schedules/scheduled-deliverable-store';
import { type ListedSchedules, reconcileSchedules } from '../clients/listed-schedules';
import { describeStatus } from '../clients/workflow-status';
import { startDeliverableRun } from './client';
import { deliverableSchedule, isDeliverableSchedule } from './messages';

interface ReconciledDeliverables {
  scheduledDeliverables: Pick<ScheduledDeliverableStore, 'list'>;
  deliverableRuns: Pick<ScheduledDeliverableRunStore, 'running'>;
  log: Log;
}

/** Makes the Schedules match the definitions, and continues the runs whose workflow was lost or ended by an operator. */
export async function reconcileScheduledDeliverables(
  client: Client,
  listed: ListedSchedules,
  { scheduledDeliverables, deliverableRuns, log }: ReconciledDeliverables,
): Promise<void> {
  const expected = (await scheduledDeliverables.list()).map(deliverableSchedule);
  await reconcileSchedules(client, { listed, isOfKind: isDeliverableSchedule, expected, log });
  for await (const { _id: runId, deliverableId, workflow } of deliverableRuns.running()) {
    if (workflow !== null && (await describeStatus(client, workflow)) !== 'open') {
      await startDeliverableRun(client, deliverableId, { runId });
      log.info({ runId, deliverableId }, 'scheduled deliverable run continued');
    }
  }
}
