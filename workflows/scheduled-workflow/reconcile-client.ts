import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import type { WorkflowStore } from '../../stores/runs/workflows/workflow-store';
import { type ListedSchedules, reconcileSchedules } from '../clients/listed-schedules';
import { isWorkflowSchedule, workflowSchedule } from './messages';

/** Makes the Schedules of workflows match their definitions. */
export async function reconcileWorkflowSchedules(
  client: Client,
  listed: ListedSchedules,
  { workflows, log }: { workflows: Pick<WorkflowStore, 'list'>; log: Log },
): Promise<void> {
  const expected = (await workflows.list()).flatMap(({ id, definition: { schedule }, revision }) =>
    schedule ? [workflowSchedule({ id, schedule, revision })] : [],
  );
  await reconcileSchedules(client, { listed, isOfKind: isWorkflowSchedule, expected, log });
}
