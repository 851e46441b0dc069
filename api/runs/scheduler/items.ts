import type { SchedulerEvent, SchedulerItem } from '../../../contracts/runs/schedules/scheduler';
import type { ScheduledLaunchRecord } from '../../../stores/runs/launch/scheduled-launch-store';
import type { DeliverableRunRecord } from '../../../stores/runs/schedules/scheduled-deliverable-run-store';
import type { ScheduledDeliverableRecord } from '../../../stores/runs/schedules/scheduled-deliverable-store';
import type { WorkflowContext } from '../../context';

export type SchedulerContext = Pick<
  WorkflowContext,
  | 'board'
  | 'deliverableRuns'
  | 'deliverableSchedules'
  | 'launchSchedules'
  | 'repositories'
  | 'agents'
  | 'scheduledDeliverables'
  | 'scheduledLaunches'
  | 'scheduledOutcomes'
  | 'schedulerMarks'
  | 'now'
>;

/** A record that a Schedule follows. */
export type Scheduled =
  | { kind: 'scheduled-deliverable'; record: ScheduledDeliverableRecord }
  | { kind: 'scheduled-launch'; record: ScheduledLaunchRecord };

export const isEnabled = ({ kind, record }: Scheduled): boolean =>
  kind === 'scheduled-deliverable' ? record.enabled : !record.paused;

export const eventOf = ({ _id, deliverableId, ...run }: DeliverableRunRecord): SchedulerEvent => ({
  itemId: deliverableId,
  kind: 'scheduled-deliverable',
  at: run.endedAt ?? run.startedAt,
  status: run.status,
  runId: _id,
  error: run.error ?? null,
});

/** Reads the records of both kinds as items of the scheduler. */
export function createSchedulerItems(context: SchedulerContext) {
  const { deliverableRuns, scheduledDeliverables, scheduledLaunches, scheduledOutcomes } = context;

  async function lastRunOf({ kind, record: { id } }: Scheduled): Promise<SchedulerItem['lastRun']> {
    if (kind === 'scheduled-deliverable') {
      const [last] = (await deliverableRuns.ofDeliverable(id, { limit: 1 })).items;
      if (!last) {
        return null;
      }
      const { at, status, runId, error } = eventOf(last);
      return { at, status, runId, error };
    }
    const outcome = await scheduledOutcomes.get(id);
    return outcome && { at: outcome.at, status: outcome.status, runId: outcome.attemptId, error: outcome.message };
  }

  return {
    /** All of them, the deliverables first. */
    async all(): Promise<Scheduled[]> {
      const [deliverables, launches] = await Promise.all([scheduledDeliverables.list(), scheduledLaunches.list()]);
      return [
        ...deliverables.map((record): Scheduled => ({ kind: 'scheduled-deliverable', record })),
        ...launches.map((record): Scheduled => ({ kind: 'scheduled-launch', record })),
      ];
    },

    async find(id: string): Promise<Scheduled | undefined> {
      const deliverable = await scheduledDeliverables.get(id);
      if (deliverable) {
        return { kind: 'scheduled-deliverable', record: deliverable };
      }
      const launch = await scheduledLaunches.get(id);
      return launch && { kind: 'scheduled-launch', record: launch };
    },

    async present(scheduled: Scheduled): Promise<SchedulerItem> {
      const { id, revision } = scheduled.record;
      const common = { id, revision, enabled: isEnabled(scheduled), lastRun: await lastRunOf(scheduled) };
      if (scheduled.kind === 'scheduled-deliverable') {
        const { name, schedule, cronExpr, timezone, overlapPolicy, catchUpMinutes, agent = null } = scheduled.record;
        const { kind } = scheduled;
        return {
          ...common,
          kind,
          name,
          schedule: cronExpr ?? schedule,
          timezone,
          overlapPolicy,
          catchUpMinutes,
          agent,
        };
      }
      const { taskId, spec, launch } = scheduled.record;
      return {
        ...common,
        kind: scheduled.kind,
        name: `Launch ${taskId}`,
        schedule: 'cron' in spec ? spec.cron : `every ${spec.everyMinutes} minutes`,
        ...{ timezone: 'UTC', overlapPolicy: 'skip', catchUpMinutes: 10 },
        agent: launch.agent ?? null,
      };
    },
  };
}
