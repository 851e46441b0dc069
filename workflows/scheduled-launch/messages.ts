import type { LaunchSpec } from '../../contracts/runs/launch/scheduled-launch';
import { boardQueue } from '../queues';

const prefix = 'scheduled-launch/';

/** The Schedule of a definition, and the beginning of the ids of what it starts. */
export const launchScheduleId = (id: string): string => `${prefix}${id}`;
export const isLaunchSchedule = (scheduleId: string): boolean => scheduleId.startsWith(prefix);

/** The Schedule of a definition. It is started with the id alone: the launch itself is in the stores. */
export const launchSchedule = ({
  id,
  taskId,
  spec,
  paused,
  revision,
}: {
  id: string;
  taskId: string;
  spec: LaunchSpec;
  paused: boolean;
  revision: number;
}) => ({
  scheduleId: launchScheduleId(id),
  spec: 'cron' in spec ? { cronExpressions: [spec.cron] } : { intervals: [{ every: spec.everyMinutes * 60_000 }] },
  paused,
  note: `revision ${revision}`,
  action: {
    workflowType: 'scheduledLaunch',
    taskQueue: boardQueue,
    args: [id] as [string],
    staticSummary: `launch ${taskId} by its schedule`,
  },
});
