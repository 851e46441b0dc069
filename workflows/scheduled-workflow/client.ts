import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { WorkflowDefinition, WorkflowSchedule } from '../../contracts/runs/workflows/definition';
import type { Log } from '../../platform/log/log';
import { createScheduleClient } from '../clients/schedule-client';
import { workflowSchedule, workflowScheduleId } from './messages';

/** The Schedules of workflows, which follow the definitions. */
export function createWorkflowSchedules(client: Client, log: Log) {
  const schedules = createScheduleClient(client, log);
  return {
    /** @throws AppError 400 when Temporal cannot read the times or they never come, 503 */
    check: (schedule: WorkflowSchedule): Promise<void> =>
      schedules.check('schedule.cron', workflowSchedule({ id: `check-${randomUUID()}`, schedule, revision: 0 })),

    /** Makes the Schedule match the definition. */
    async follow({ id, definition, revision }: FollowedWorkflow): Promise<void> {
      const { schedule } = definition;
      await (schedule
        ? schedules.ensure(workflowSchedule({ id, schedule, revision }))
        : schedules.drop(workflowScheduleId(id)));
    },

    drop: (id: string): Promise<void> => schedules.drop(workflowScheduleId(id)),
  };
}

interface FollowedWorkflow {
  id: string;
  definition: WorkflowDefinition;
  revision: number;
}
