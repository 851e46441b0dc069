import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { PartEnvironment } from '../../platform/config/part-settings';
import type { Routes } from '../../platform/http/routing/routes';
import { listen } from '../../platform/http/server/server';
import type { Log } from '../../platform/log/log';
import { openModels } from '../../platform/models/open';
import { operationTime } from '../../platform/operations/operation';
import { openDataDirectory } from '../../platform/processes/data-directory';
import { persistentId } from '../../platform/processes/persistent-id';
import { createProofVerifier } from '../../platform/temporal/proof-verifier';
import { createActivityFence } from '../../platform/temporal/workers/activity-fence';
import { traceActivities } from '../../platform/tracing/activities';
import { openDatabase, storeOptions } from '../../stores/port/open';
import { createIdempotencyKeyStore } from '../../stores/system/idempotency-key-store';
import { openMessageProofs } from '../../stores/system/message-key-store';
import { createWorkflowRunsActivities } from './activities';
import { activityCallers } from './activity-callers';
import { createWorkflowRunsApp } from './app';
import { areas, runAreas } from './areas';
import { createBoardClient } from './board/board-client';
import type { CommandSandbox } from './commands/command-sandbox';
import { sweepRegularly } from './commands/sweep';
import { workspacesDirectory } from './commands/workspace';
import type { WorkflowRunsContext } from './context';
import { createGraphCompiler } from './graph/graph-compiler';
import { refusalDocument } from './http/errors';
import { openRuns } from './runs/context';
import { ensureDispatch } from './runs/schedule';
import { createRunStore } from './runs/store';
import { createSchemaChecker } from './schemas/schema-checker';
import { createSessionStore } from './sessions/store';
import { snapshotsDirectory } from './snapshots/snapshots';

const usualQueue = 'workflow-runs';

export interface WorkflowRunsOptions {
  env: PartEnvironment<'workflow-runs'>;
  log: Log;
  client: Client;
  connection: NativeConnection;
  workflows: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;
  taskQueue?: string;
  /** Confines commands of runs; without it they are refused. */
  sandbox?: CommandSandbox | undefined;
  now?: () => Date;
  /** How often the workflows of active runs are looked up, in milliseconds. */
  reconcileEveryMs?: number;
  /** How often workspaces of runs that have ended are removed, in milliseconds; ten minutes when absent. */
  sweepEveryMs?: number;
}

export interface RunningWorkflowRuns {
  url: string;
  /** Rejects when the worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  close(): Promise<void>;
}

const boardOf = ({ WORKFLOW_RUNS_BOARD_URL: url, WORKFLOW_RUNS_BOARD_TOKEN: token }: WorkflowRunsOptions['env']) =>
  url === undefined ? undefined : createBoardClient({ url, token });

/** Starts the workflow-run service: its API, and the worker that runs its workflows. */
export async function startWorkflowRuns(options: WorkflowRunsOptions): Promise<RunningWorkflowRuns> {
  const { env, log, client, connection, taskQueue = usualQueue, now = operationTime } = options;
  const dataDir = join(env.BOARD_DATA_DIR, 'workflow-runs');
  await openDataDirectory(env.BOARD_DATA_DIR, log);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // An invalid catalog fails the start before anything else is opened.
  const models = await openModels({ path: env.WORKFLOW_RUNS_MODELS, dryRun: env.WORKFLOW_RUNS_DRY_RUN }, log);
  const database = await openDatabase({ ...storeOptions(env), dataDir, log });
  const runs = await createRunStore(database);
  const sessions = await createSessionStore(database);
  const idempotencyKeys = await createIdempotencyKeyStore(database);
  const messageProofs = await openMessageProofs(database);
  const proofs = createProofVerifier({
    proofs: messageProofs,
    onRefused: async ({ purpose, subject }, problem) =>
      log.warn({ purpose, subject, problem }, 'unsigned message refused'),
  });
  const ending = new AbortController();
  const graphs = createGraphCompiler();
  const schemas = createSchemaChecker();
  const hostId = await persistentId(join(dataDir, 'host-id'), () => randomBytes(8).toString('hex'));
  const hostQueue = `${taskQueue}/${hostId}`;
  const context: WorkflowRunsContext = {
    sandbox: options.sandbox,
    board: boardOf(env),
    hostQueue,
    env,
    log,
    database,
    client,
    taskQueue,
    messageProofs,
    proofs,
    runs,
    models,
    graphs,
    schemas,
    sessions,
    now,
    reconcileEveryMs: options.reconcileEveryMs,
    ending: ending.signal,
  };
  const onRuns = await openRuns(context);
  const opened: ((routes: Routes) => void)[] = [(routes) => runAreas(routes, onRuns)];
  for (const open of areas) {
    opened.push(await open(context));
  }
  const common = {
    connection,
    namespace: env.TEMPORAL_NAMESPACE,
    shutdownGraceTime: env.BOARD_DRAIN_MS,
    activities: createWorkflowRunsActivities(onRuns),
    interceptors: {
      activity: [createActivityFence({ callers: activityCallers, proofsOf: async () => proofs }), traceActivities],
    },
  };
  const worker = await Worker.create({ ...common, taskQueue, ...options.workflows });
  const hostWorker = await Worker.create({ ...common, taskQueue: hostQueue });
  const workers = [worker, hostWorker];
  const ended = Promise.all(workers.map((each) => each.run())).then(() => undefined);
  await ensureDispatch(client, taskQueue);
  const endUse = onRuns.previews.endOfRun;
  const sweeps = [workspacesDirectory(env), snapshotsDirectory(env)].map((directory) =>
    sweepRegularly({
      directory,
      retentionMs: env.WORKFLOW_RUNS_WORKSPACE_RETENTION_MS,
      ...{ runs, endUse, now, log },
      everyMs: options.sweepEveryMs,
    }),
  );
  const unset = (['WORKFLOW_RUNS_USERS', 'WORKFLOW_RUNS_JWT_PUBLIC_KEY'] as const).filter((name) => !env[name]?.length);
  if (unset.length > 0) {
    log.warn({ unset }, 'settings of callers not set, all workflow-run service calls are refused');
  }
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
      sweeps.forEach((end) => end());
      ending.abort(new Error('The workflow-run service is ending.'));
      await server.close();
      workers.filter((each) => each.getState() === 'RUNNING').forEach((each) => each.shutdown());
      await onRuns.previews.close();
      await ended;
      await graphs.close();
      await schemas.close();
      await database.close();
    },
  };
}
