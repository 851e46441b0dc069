import type { WorkflowSchedule } from '../../contracts/runs/workflows/definition';
import { boardQueue } from '../queues';

const prefix = 'scheduled-workflow/';

/** The Schedule of a workflow of the board, and the beginning of the ids of what it starts. */
export const workflowScheduleId = (id: string): string => `${prefix}${id}`;
export const isWorkflowSchedule = (scheduleId: string): boolean => scheduleId.startsWith(prefix);

/** The Schedule of a workflow. It is started with the id alone: what is run is in the stores. */
export const workflowSchedule = ({
  id,
  schedule: { cron, timezone = 'UTC', enabled = true },
  revision,
}: {
  id: string;
  schedule: WorkflowSchedule;
  revision: number;
}) => ({
  scheduleId: workflowScheduleId(id),
  spec: { cronExpressions: [cron], timezone },
  paused: !enabled,
  note: `revision ${revision}`,
  action: {
    workflowType: 'scheduledWorkflow',
    taskQueue: boardQueue,
    args: [id] as [string],
    staticSummary: 'scheduled workflow run',
  },
});
