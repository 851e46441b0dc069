import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { attemptDirectories, removeFilesOfEnded } from '../activities/agent-run/dispatch/attempt-files';
import { removeLocksOfRemoved } from '../activities/worktree/removed-locks';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { Log } from '../platform/log/log';
import { ensureSchedules, reconcileNow } from '../workflows/clients/schedules';
import { reconcileIssueSyncs } from '../workflows/issue-sync/reconcile-client';
import { reconcileLaunchSchedules } from '../workflows/scheduled-launch/reconcile-client';
import { reconcileWorktrees } from '../workflows/worktree/reconcile-client';
import type { WorkerDependencies } from './deps';
import { reconcileApprovals } from './reconcile-approvals';

export interface ReconciliationDependencies extends Pick<
  WorkerDependencies,
  'worktrees' | 'approvals' | 'attempts' | 'issueSyncs' | 'scheduledLaunches'
> {
  env: WorkerEnvironment;
  client: Client;
  log: Log;
}

/** How often operations whose workflow was lost are reconciled, in milliseconds. */
const everyMs = 60_000;

type Step = [failure: string, run: () => Promise<unknown>];

/** Reconciles at the start, and every minute until it is closed. A step that fails is logged, and the next one is done. */
export async function startReconciliation(deps: ReconciliationDependencies): Promise<{ close(): Promise<void> }> {
  const { client, log } = deps;
  const closing = new AbortController();
  const runAll = async (steps: Step[]): Promise<void> => {
    for (const [failure, run] of steps) {
      if (!closing.signal.aborted) {
        await run().catch((error: unknown) => log.warn({ err: error }, failure));
      }
    }
  };
  await runAll([...stepsOf(deps, { stuck: true }), ['lost run scan failed', () => reconcileNow(client)]]);
  let round: Promise<void> | undefined;
  const timer = setInterval(() => {
    round ??= runAll(stepsOf(deps, { stuck: false })).finally(() => (round = undefined));
  }, everyMs);
  return {
    async close() {
      closing.abort();
      clearInterval(timer);
      await round;
    },
  };
}

/** @param options.stuck also operations that stopped with an error, and approvals that are not overdue */
function stepsOf(deps: ReconciliationDependencies, { stuck }: { stuck: boolean }): Step[] {
  const { env, client, log, worktrees, approvals, issueSyncs, scheduledLaunches } = deps;
  const heartbeatTimeoutMs = env.BOARD_HEARTBEAT_TIMEOUT_MS;
  const locks = join(env.BOARD_DATA_DIR, 'fences');
  return [
    [
      'worktree reconciliation failed',
      () => reconcileWorktrees({ worktrees, client, heartbeatTimeoutMs, log }, { stuck }),
    ],
    ['ended attempt file removal failed', () => removeEndedFiles(deps)],
    ['removed worktree lock cleanup failed', () => removeLocksOfRemoved(locks, worktrees)],
    ['approval reconciliation failed', () => reconcileApprovals(approvals, { overdueOnly: !stuck })],
    ['schedule creation failed', () => ensureSchedules(client)],
    ['launch schedule reconciliation failed', () => reconcileLaunchSchedules(client, { scheduledLaunches, log })],
    ['issue sync reconciliation failed', () => reconcileIssueSyncs(client, { issueSyncs, env })],
  ];
}

async function removeEndedFiles({ env, attempts, log }: ReconciliationDependencies): Promise<void> {
  const graceMs = env.BOARD_STOP_GRACE_MS;
  const directories = attemptDirectories(env.BOARD_DATA_DIR);
  const removed = await removeFilesOfEnded(directories, attempts, { now: new Date(), graceMs });
  if (removed > 0) {
    log.info({ removed }, 'ended attempt files removed');
  }
}
