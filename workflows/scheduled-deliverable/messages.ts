import type { ScheduleOverlapPolicy } from '@temporalio/client';
import type { ScheduledDeliverable } from '../../contracts/runs/schedules/scheduled-deliverable';
import type { MessageProof } from '../../platform/crypto/message-proof-shape';
import { boardQueue } from '../queues';

const prefix = 'scheduled-deliverable/';

/** The Schedule of a definition, and the beginning of the ids of what it starts. */
export const deliverableScheduleId = (id: string): string => `${prefix}${id}`;
export const isDeliverableSchedule = (scheduleId: string): boolean => scheduleId.startsWith(prefix);

/** The workflow of a run that its Schedule has not started. */
export const deliverableRunWorkflowId = (id: string, runId: string): string => `${prefix}${id}/${runId}`;

/** A run that its Schedule has not started: `begin` makes its record. */
export interface DeliverableRunStart {
  runId: string;
  begin: { trigger: 'manual' | 'catch-up'; startedBy: string };
}

/** A run that the API has started, with its proof, or that continues. */
export type StartedRun = (DeliverableRunStart & { proof: MessageProof }) | { runId: string };

/** The name of an overlap policy in Temporal. */
const overlapOf = (policy: ScheduledDeliverable['overlapPolicy']) =>
  policy.toUpperCase().replace('-', '_') as ScheduleOverlapPolicy;

type Timed = Pick<
  ScheduledDeliverable,
  'id' | 'schedule' | 'cronExpr' | 'timezone' | 'overlapPolicy' | 'catchUpMinutes' | 'enabled' | 'revision'
>;

const dayMs = 86_400_000;
/** Nine o'clock on the first Monday after the epoch, from which fortnights are counted. */
const firstMondayMs = 4 * dayMs + 9 * 3_600_000;

const crons = { daily: '0 9 * * *', weekly: '0 9 * * 1', monthly: '0 9 1 * *' } as const;

function specOf({ schedule, cronExpr, timezone }: Timed) {
  if (schedule === 'biweekly') {
    return { intervals: [{ every: 14 * dayMs, offset: firstMondayMs }] };
  }
  return { cronExpressions: [schedule === 'custom' ? (cronExpr ?? '') : crons[schedule]], timezone };
}

/** The Schedule of a definition. It is started with the id alone: what is made is in the stores. */
export const deliverableSchedule = (definition: Timed) => ({
  scheduleId: deliverableScheduleId(definition.id),
  spec: specOf(definition),
  paused: !definition.enabled,
  note: `revision ${definition.revision}`,
  overlap: overlapOf(definition.overlapPolicy),
  catchUpMinutes: definition.catchUpMinutes,
  action: {
    workflowType: 'scheduledDeliverable',
    taskQueue: boardQueue,
    args: [definition.id] as [string],
    staticSummary: 'scheduled deliverable',
  },
});
