import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule } from '../../platform/temporal/ensure-schedule';
import type { ScheduledDeliverableRunStore } from '../../stores/runs/schedules/scheduled-deliverable-run-store';
import type { ScheduledDeliverableStore } from '../../stores/runs/schedules/scheduled-deliverable-store';
import { describeStatus } from '../clients/workflow-status';
import { startDeliverableRun } from './client';
import { deliverableSchedule, deliverableScheduleId, isDeliverableSchedule } from './messages';

interface ReconciledDeliverables {
  scheduledDeliverables: Pick<ScheduledDeliverableStore, 'list'>;
  deliverableRuns: Pick<ScheduledDeliverableRunStore, 'running'>;
  log: Log;
}

/**
 * Makes the Schedules match the definitions: one may be missing or stale after a crash between the two writes. Continues the runs
 * whose workflow was lost or ended by an operator.
 */
export async function reconcileScheduledDeliverables(
  client: Client,
  { scheduledDeliverables, deliverableRuns, log }: ReconciledDeliverables,
): Promise<void> {
  // Schedules first: each is made after its definition, so that one without a definition is stale.
  const scheduleIds: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) {
    if (isDeliverableSchedule(scheduleId)) {
      scheduleIds.push(scheduleId);
    }
  }
  const definitions = await scheduledDeliverables.list();
  const expected = new Set(definitions.map(({ id }) => deliverableScheduleId(id)));
  for (const scheduleId of scheduleIds.filter((id) => !expected.has(id))) {
    await dropSchedule(client, scheduleId);
  }
  for (const definition of definitions) {
    await ensureSchedule(client, deliverableSchedule(definition)).catch((error: unknown) =>
      log.warn({ err: error, id: definition.id }, 'deliverable schedule creation failed'),
    );
  }
  for await (const { _id: runId, deliverableId, workflow } of deliverableRuns.running()) {
    if (workflow !== null && (await describeStatus(client, workflow)) !== 'open') {
      await startDeliverableRun(client, deliverableId, { runId });
      log.info({ runId, deliverableId }, 'scheduled deliverable run continued');
    }
  }
}
