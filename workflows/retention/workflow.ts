import { ApplicationFailure, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RecordRetentionActivities } from '../../activities/retention/records';
import type { SpoolRetentionActivities } from '../../activities/retention/spools';
import type { TaskRetentionActivities } from '../../activities/retention/tasks';
import type { RetentionReport } from '../../contracts/system/retention';
import { hostQueue } from '../queues';
import type { RetentionInput } from './messages';

const options = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 10 },
} as const;

const board = proxyActivities<TaskRetentionActivities & RecordRetentionActivities>({
  ...options,
  summary: 'purge expired records',
});

/** A host whose worker accepts no task for a minute is left out. */
const on = (hostId: string) =>
  proxyActivities<SpoolRetentionActivities>({
    ...options,
    scheduleToStartTimeout: '1 minute',
    taskQueue: hostQueue(hostId),
    summary: 'purge spools',
  });

/** Purges one kind, or counts what is due. Retention times are a feature setting, never an input of the workflow. */
export async function retention({ kind, dryRun }: RetentionInput): Promise<RetentionReport> {
  const report = await purge({ kind, dryRun });
  setCurrentDetails(`${report.due} ${kind} are due, ${report.removed} were removed.`);
  return report;
}

function purge({ kind, dryRun }: RetentionInput): Promise<RetentionReport> {
  switch (kind) {
    case 'tasks':
      return board.purgeTasks({ dryRun });
    case 'run-events':
      return board.purgeRunEvents({ dryRun });
    case 'traces':
      return board.purgeTraces({ dryRun });
    case 'workflow-runs':
      return board.purgeWorkflowRuns({ dryRun });
    case 'spools':
      return purgeSpools(dryRun);
    default:
      throw ApplicationFailure.nonRetryable(`There is no retention of ${String(kind)}.`, 'UNKNOWN_RETENTION');
  }
}

async function purgeSpools(dryRun: boolean): Promise<RetentionReport> {
  const report: RetentionReport = { kind: 'spools', dryRun, due: 0, removed: 0, examples: [], hostsAway: [] };
  for (const hostId of await board.liveHosts()) {
    try {
      const one = await on(hostId).purgeSpools({ dryRun });
      report.due += one.due;
      report.removed += one.removed;
      report.examples = [...report.examples, ...one.examples].slice(0, 20);
    } catch {
      report.hostsAway?.push(hostId);
    }
  }
  return report;
}
