import type { Features } from '../../contracts/settings/settings';
import type { RetentionReport } from '../../contracts/system/retention';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { TraceStore } from '../../stores/governance/trace-store';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { RunEventStore } from '../../stores/runs/event-store';
import type { HostStore } from '../../stores/runs/hosts/host-store';
import type { WorkflowRunStore } from '../../stores/runs/workflows/workflow-run-store';
import { type PurgeInput, tally } from './tally';

export interface RecordRetentionDependencies {
  attempts: Pick<AttemptStore, 'endedBefore' | 'eventsPurged'>;
  events: Pick<RunEventStore, 'purge'>;
  traces: Pick<TraceStore, 'before' | 'remove'>;
  hosts: Pick<HostStore, 'live'>;
  workflowRuns: Pick<WorkflowRunStore, 'endedBefore' | 'removeEnded'>;
  settings: () => Promise<Features['retention']>;
  now: () => Date;
}

const dayMs = 86_400_000;

export function createRecordRetentionActivities(deps: RecordRetentionDependencies) {
  const daysAgo = (days: number): string => new Date(deps.now().getTime() - days * dayMs).toISOString();

  return {
    /** Removes the events of attempts that ended long ago, but for the one that records how. */
    purgeRunEvents: (input: PurgeInput): Promise<RetentionReport> =>
      withHeartbeat(async (signal) => {
        const { runEventDays } = await deps.settings();
        const tallied = tally('run-events', input);
        if (runEventDays === null) {
          return tallied.report;
        }
        for await (const { _id } of deps.attempts.endedBefore(daysAgo(runEventDays))) {
          if (signal.aborted) {
            break;
          }
          await tallied.take(_id, async () => {
            await deps.events.purge(_id);
            await deps.attempts.eventsPurged(_id, deps.now().toISOString());
            return true;
          });
        }
        return tallied.report;
      }),

    /** Removes governance traces before the store's own limit of 90 days, if that is set. */
    purgeTraces: (input: PurgeInput): Promise<RetentionReport> =>
      withHeartbeat(async (signal) => {
        const { traceDays } = await deps.settings();
        const tallied = tally('traces', input);
        for await (const { _id } of deps.traces.before(daysAgo(traceDays))) {
          if (signal.aborted) {
            break;
          }
          await tallied.take(_id, () => deps.traces.remove(_id));
        }
        return tallied.report;
      }),

    /** Removes runs of workflows that ended long ago, with their stages. */
    purgeWorkflowRuns: (input: PurgeInput): Promise<RetentionReport> =>
      withHeartbeat(async (signal) => {
        const { workflowRunDays } = await deps.settings();
        const tallied = tally('workflow-runs', input);
        if (workflowRunDays === null) {
          return tallied.report;
        }
        for await (const { _id } of deps.workflowRuns.endedBefore(daysAgo(workflowRunDays))) {
          if (signal.aborted) {
            break;
          }
          await tallied.take(_id, () => deps.workflowRuns.removeEnded(_id));
        }
        return tallied.report;
      }),

    /** Hosts whose spools can be inspected. */
    liveHosts: async (): Promise<string[]> => (await deps.hosts.live()).map(({ _id }) => _id),
  };
}

export type RecordRetentionActivities = ReturnType<typeof createRecordRetentionActivities>;
