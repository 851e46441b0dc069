import { join } from 'node:path';
import { attemptDirectories, removeFilesOfEnded } from '../activities/agent-run/dispatch/attempt-files';
import { removeLocksOfRemoved } from '../activities/worktree/removed-locks';
import { localWorkspace } from '../contracts/common';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { Log } from '../platform/log/log';
import type { Stores } from '../stores/open-stores';
import type { AttemptStore } from '../stores/runs/attempt-store';
import { type ListedSchedules, listSchedules } from '../workflows/clients/listed-schedules';
import { ensureSchedules, reconcileNow } from '../workflows/clients/schedules';
import { reconcileContinuations } from '../workflows/continue-run/client';
import { reconcileReviews } from '../workflows/decision-review/reconcile-client';
import { reconcileGoals } from '../workflows/goal/reconcile-client';
import { reconcileIssueSyncs } from '../workflows/issue-sync/reconcile-client';
import { reconcileScheduledDeliverables } from '../workflows/scheduled-deliverable/reconcile-client';
import { reconcileLaunchSchedules } from '../workflows/scheduled-launch/reconcile-client';
import { reconcileWorkflowSchedules } from '../workflows/scheduled-workflow/reconcile-client';
import { reconcileWorkflowRuns } from '../workflows/workflow-run/reconcile-client';
import { reconcileWorktrees } from '../workflows/worktree/reconcile-client';
import type { WorkspaceDependencies } from './deps';
import { reconcileApprovals } from './reconcile-approvals';
import type { WorkerWorkspaces } from './workspaces';

/** What is reconciled of one workspace. */
export interface ReconciledWorkspace extends Pick<
  WorkspaceDependencies,
  'workspaceId' | 'directory' | 'approvals' | 'client'
> {
  stores: Pick<
    Stores,
    | 'worktrees'
    | 'attempts'
    | 'decisionReviews'
    | 'issueSyncs'
    | 'scheduledDeliverables'
    | 'deliverableRuns'
    | 'scheduledLaunches'
    | 'goals'
    | 'runContinuations'
    | 'workflowRuns'
    | 'workflows'
    | 'messageProofs'
  >;
}

export interface ReconciliationDependencies {
  workspaces: Pick<WorkerWorkspaces<ReconciledWorkspace>, 'of' | 'each'>;
  env: WorkerEnvironment;
  log: Log;
}

/** How often operations whose workflow was lost are reconciled, in milliseconds. */
const everyMs = 60_000;

/** The Schedules of each workspace, as a round of the reconciliation has listed them. */
type Schedules = () => ReturnType<typeof listSchedules>;

type Step = [failure: string, run: () => Promise<unknown>];

/**
 * Reconciles every workspace, when this process sees it first and every minute until it is closed; `local` before this resolves. A
 * step that fails is logged, and the next one is done.
 */
export async function startReconciliation(deps: ReconciliationDependencies): Promise<{ close(): Promise<void> }> {
  const { workspaces, log } = deps;
  const closing = new AbortController();
  const seen = new Set<string>();

  async function reconcile(workspace: ReconciledWorkspace, schedules: Schedules): Promise<void> {
    const { workspaceId, client } = workspace;
    const first = !seen.has(workspaceId);
    seen.add(workspaceId);
    const steps = stepsOf(deps, workspace, { first, schedules: async () => (await schedules())(workspaceId) });
    for (const [failure, run] of first
      ? [...steps, ['lost run scan failed', () => reconcileNow(client)] satisfies Step]
      : steps) {
      if (!closing.signal.aborted) {
        await run().catch((error: unknown) => log.warn({ err: error, workspaceId }, failure));
      }
    }
  }

  /** Lists once, when it is first asked, for all workspaces of a round. */
  function newRound(): Schedules {
    let listed: ReturnType<Schedules> | undefined;
    return () => (listed ??= workspaces.of(localWorkspace).then(({ client }) => listSchedules(client)));
  }

  async function reconcileAll({ but }: { but?: string } = {}): Promise<void> {
    const schedules = newRound();
    for await (const workspace of workspaces.each()) {
      if (closing.signal.aborted) {
        return;
      }
      if (workspace.workspaceId !== but) {
        await reconcile(workspace, schedules);
      }
    }
  }

  const begin = (work: Promise<void>): Promise<void> =>
    work
      .catch((error: unknown) => log.warn({ err: error }, 'reconciliation failed'))
      .finally(() => (round = undefined));
  await reconcile(await workspaces.of(localWorkspace), newRound());
  let round: Promise<void> | undefined = begin(reconcileAll({ but: localWorkspace }));
  const timer = setInterval(() => {
    round ??= begin(reconcileAll());
  }, everyMs);
  return {
    async close() {
      closing.abort();
      clearInterval(timer);
      await round;
    },
  };
}

/**
 * @param options.first that this process sees the workspace: operations that stopped with an error, and approvals that are not overdue,
 *   are reconciled as well, and regular schedules are created without looking which there are
 */
function stepsOf(
  { env, log }: ReconciliationDependencies,
  { client, directory, approvals, stores }: ReconciledWorkspace,
  { first, schedules }: { first: boolean; schedules: () => Promise<ListedSchedules> },
): Step[] {
  const { worktrees, attempts, decisionReviews, issueSyncs, scheduledLaunches, goals, runContinuations } = stores;
  const { scheduledDeliverables, deliverableRuns, workflowRuns, workflows, messageProofs } = stores;
  const heartbeatTimeoutMs = env.BOARD_HEARTBEAT_TIMEOUT_MS;
  const locks = join(directory, 'fences');
  return [
    [
      'worktree reconciliation failed',
      () => reconcileWorktrees({ worktrees, client, heartbeatTimeoutMs, log }, { stuck: first }),
    ],
    ['ended attempt file removal failed', () => removeEndedFiles({ env, log }, directory, attempts)],
    ['removed worktree lock cleanup failed', () => removeLocksOfRemoved(locks, worktrees)],
    ['approval reconciliation failed', () => reconcileApprovals(approvals, { overdueOnly: !first })],
    ['schedule creation failed', async () => ensureSchedules(client, first ? new Map() : await schedules())],
    [
      'launch schedule reconciliation failed',
      async () => reconcileLaunchSchedules(client, await schedules(), { scheduledLaunches, log }),
    ],
    [
      'deliverable schedule reconciliation failed',
      async () =>
        reconcileScheduledDeliverables(client, await schedules(), { scheduledDeliverables, deliverableRuns, log }),
    ],
    ['continuation reconciliation failed', () => reconcileContinuations(client, runContinuations)],
    [
      'workflow run reconciliation failed',
      () => reconcileWorkflowRuns(client, { workflowRuns, messageProofs, now: () => new Date(), log }),
    ],
    [
      'workflow schedule reconciliation failed',
      async () => reconcileWorkflowSchedules(client, await schedules(), { workflows, log }),
    ],
    ['goal reconciliation failed', () => reconcileGoals(client, goals)],
    ['decision review reconciliation failed', () => reconcileReviews(client, { decisionReviews, env })],
    ['issue sync reconciliation failed', () => reconcileIssueSyncs(client, { issueSyncs, env })],
  ];
}

async function removeEndedFiles(
  { env, log }: Pick<ReconciliationDependencies, 'env' | 'log'>,
  directory: string,
  attempts: Pick<AttemptStore, 'get'>,
): Promise<void> {
  const graceMs = env.BOARD_STOP_GRACE_MS;
  const removed = await removeFilesOfEnded(attemptDirectories(directory), attempts, { now: new Date(), graceMs });
  if (removed > 0) {
    log.info({ removed }, 'ended attempt files removed');
  }
}
