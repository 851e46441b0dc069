import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Routes } from '../../platform/http/routing/routes';
import { listen } from '../../platform/http/server/server';
import { createActivityFence } from '../../platform/temporal/workers/activity-fence';
import { traceActivities } from '../../platform/tracing/activities';
import { createIdempotencyKeyStore } from '../../stores/system/idempotency-key-store';
import { createWorkflowRunsActivities } from './activities';
import { activityCallers } from './activity-callers';
import { createWorkflowRunsApp } from './app';
import { areas, runAreas } from './areas';
import { sweepRegularly } from './commands/sweep';
import { workspacesDirectory } from './commands/workspace';
import { refusalDocument } from './http/errors';
import { type ContextOptions, openContext } from './open-context';
import { openRuns, type RunsContext } from './runs/context';
import { ensureDispatch } from './runs/schedule';
import { snapshotsDirectory } from './snapshots/snapshots';

export interface WorkflowRunsOptions extends ContextOptions {
  connection: NativeConnection;
  workflows: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  /** How often workspaces of runs that have ended are removed, in milliseconds; ten minutes when absent. */
  sweepEveryMs?: number;
}

export interface RunningWorkflowRuns {
  url: string;
  /** Rejects when the worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts the workflow-run service: its API, and the worker that runs its workflows. */
export async function startWorkflowRuns(options: WorkflowRunsOptions): Promise<RunningWorkflowRuns> {
  const { env, log } = options;
  const ending = new AbortController();
  const context = await openContext(options, ending.signal);
  const runs = await openRuns(context);
  const idempotencyKeys = await createIdempotencyKeyStore(context.database);
  const opened: ((routes: Routes) => void)[] = [(routes) => runAreas(routes, runs)];
  for (const open of areas) {
    opened.push(await open(context));
  }
  const workers = await createWorkers(options, runs);
  const ended = Promise.all(workers.map((each) => each.run())).then(() => undefined);
  await ensureDispatch(context.client, context.taskQueue);
  const endSweeps = startSweeps(options.sweepEveryMs, runs);
  warnOfMissingCallers(options);
  const { app } = createWorkflowRunsApp({ env, log, idempotencyKeys }, opened);
  const server = await listen(app.callback(), {
    host: env.BOARD_HOST,
    port: env.WORKFLOW_RUNS_PORT,
    setting: 'WORKFLOW_RUNS_PORT',
    refusalBody: refusalDocument,
    log,
  });
  return {
    url: server.url,
    ended,
    async close() {
      endSweeps();
      ending.abort(new Error('The workflow-run service is ending.'));
      await server.close();
      workers.filter((each) => each.getState() === 'RUNNING').forEach((each) => each.shutdown());
      await runs.previews.close();
      await ended;
      await context.graphs.close();
      await context.schemas.close();
      await context.database.close();
    },
  };
}

/** The worker of the service, and the one of what has to be done on this host. */
async function createWorkers(
  { env, connection, workflows }: Pick<WorkflowRunsOptions, 'env' | 'connection' | 'workflows'>,
  runs: RunsContext,
): Promise<Worker[]> {
  const common = {
    connection,
    namespace: env.TEMPORAL_NAMESPACE,
    shutdownGraceTime: env.BOARD_DRAIN_MS,
    activities: createWorkflowRunsActivities(runs),
    interceptors: {
      activity: [createActivityFence({ callers: activityCallers, proofsOf: async () => runs.proofs }), traceActivities],
    },
  };
  return [
    await Worker.create({ ...common, taskQueue: runs.taskQueue, ...workflows }),
    await Worker.create({ ...common, taskQueue: runs.hostQueue }),
  ];
}

/** Removes the files of ended runs on this host from time to time. @returns what ends that */
function startSweeps(everyMs: number | undefined, { env, runs, previews, now, log }: RunsContext): () => void {
  const ends = [workspacesDirectory(env), snapshotsDirectory(env)].map((directory) =>
    sweepRegularly({
      directory,
      retentionMs: env.WORKFLOW_RUNS_WORKSPACE_RETENTION_MS,
      ...{ runs, endUse: previews.endOfRun, now, log, everyMs },
    }),
  );
  return () => ends.forEach((end) => end());
}

function warnOfMissingCallers({ env, log }: Pick<WorkflowRunsOptions, 'env' | 'log'>): void {
  const unset = (['WORKFLOW_RUNS_USERS', 'WORKFLOW_RUNS_JWT_PUBLIC_KEY'] as const).filter((name) => !env[name]?.length);
  if (unset.length > 0) {
    log.warn({ unset }, 'settings of callers not set, all workflow-run service calls are refused');
  }
}
