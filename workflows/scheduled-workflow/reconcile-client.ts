import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule } from '../../platform/temporal/ensure-schedule';
import type { WorkflowStore } from '../../stores/runs/workflows/workflow-store';
import { isWorkflowSchedule, workflowSchedule, workflowScheduleId } from './messages';

/** Makes the Schedules of workflows match their definitions: one may be missing or stale after a crash between the two writes. */
export async function reconcileWorkflowSchedules(
  client: Client,
  { workflows, log }: { workflows: Pick<WorkflowStore, 'list'>; log: Log },
): Promise<void> {
  // Schedules first: each is made after its definition, so that one without a definition is stale.
  const scheduleIds: string[] = [];
  for await (const { scheduleId } of client.schedule.list()) {
    if (isWorkflowSchedule(scheduleId)) {
      scheduleIds.push(scheduleId);
    }
  }
  const expected = (await workflows.list()).flatMap(({ id, definition: { schedule }, revision }) =>
    schedule ? [{ id, schedule, revision }] : [],
  );
  const expectedIds = new Set(expected.map(({ id }) => workflowScheduleId(id)));
  for (const scheduleId of scheduleIds.filter((id) => !expectedIds.has(id))) {
    await dropSchedule(client, scheduleId);
  }
  for (const each of expected) {
    await ensureSchedule(client, workflowSchedule(each)).catch((error: unknown) =>
      log.warn({ err: error, id: each.id }, 'workflow schedule creation failed'),
    );
  }
}
