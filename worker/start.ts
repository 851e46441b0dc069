import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { attemptDirectories, removeFilesOfEnded } from '../activities/agent-run/dispatch/attempt-files';
import { removeLocksOfRemoved } from '../activities/worktree/removed-locks';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import { secretValues } from '../platform/config/secret-values';
import type { Log } from '../platform/log/log';
import { hideOwnSecrets } from '../platform/log/own-secrets';
import { openDataDirectory } from '../platform/processes/data-directory';
import { awaitSpace } from '../platform/processes/disk/await-space';
import { identifySelf } from '../platform/processes/identity';
import { createActivityFence } from '../platform/temporal/activity-fence';
import { connectClient, connectWorker } from '../platform/temporal/connect';
import { discoverTemporal } from '../platform/temporal/embedded/discover';
import { ensureSearchAttributes } from '../platform/temporal/ensure-search-attributes';
import { installRuntime } from '../platform/temporal/runtime';
import { temporalSecurity } from '../platform/temporal/security';
import { createBoard } from '../stores/board-files/board';
import { openDatabase, storeOptions } from '../stores/port/open';
import { openBoardHome } from '../stores/system/board-home';
import { ensureSchedules, reconcileNow } from '../workflows/clients/schedules';
import { boardQueue, hostQueue } from '../workflows/queues';
import { reconcileLaunchSchedules } from '../workflows/scheduled-launch/reconcile-client';
import { reconcileWorktrees } from '../workflows/worktree/reconcile-client';
import { activityCallers } from './activities/activity-callers';
import type { WorkerParts } from './activities/shared';
import { createWorkerDependencies } from './deps';
import { startHeartbeat } from './heartbeat';
import { hostIdOf } from './host';
import { watchForLostWorkers, workerIdentity } from './lost-workers';
import { startProbing } from './probing';
import { reconcileApprovals } from './reconcile-approvals';

export interface RunningWorker {
  hostId: string;
  /** Rejects when a worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  /** Whether it serves the board's own queue, because the task files are in its data directory. */
  servesBoard: boolean;
  /**
   * Takes no new work, lets running agents finish for as long as `BOARD_DRAIN_MS`, leaves the rest to recovery, and closes
   * everything.
   */
  close(): Promise<void>;
  /** Ends the wait of a `close` for running agents. */
  skipDrain(): void;
}

/** How often operations whose workflow was lost are reconciled, in milliseconds. */
const reconcileEveryMs = 60_000;

/** What a worker runs: its workflows, and the providers of its agents when they are not the usual ones. */
export type WorkerCode = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> & Pick<WorkerParts, 'providers'>;

/** Starts the workers of this process: on the board's queue, on its host's, and on its own. */
export async function startWorker(
  env: WorkerEnvironment,
  log: Log,
  { providers, ...workflows }: WorkerCode,
  signal?: AbortSignal,
): Promise<RunningWorker> {
  installRuntime(log);
  hideOwnSecrets(secretValues(env));
  const dataDir = env.BOARD_DATA_DIR;
  await awaitSpace(dataDir, { log, signal });
  await openDataDirectory(dataDir, log);
  const { address } = await discoverTemporal({ configured: env.TEMPORAL_ADDRESS, dataDir, signal });
  const security = temporalSecurity(env);
  const target = { address, namespace: env.TEMPORAL_NAMESPACE, security, log, ...(signal ? { signal } : {}) };
  const connection = await connectWorker(target);
  const client = await connectClient(target);
  await ensureSearchAttributes(client.connection, env.TEMPORAL_NAMESPACE, { log });
  const hostId = await hostIdOf(dataDir, env.BOARD_HOST_ID);
  const database = await openDatabase({ ...storeOptions(env), dataDir, log });
  const home = await openBoardHome(database, {
    dataDir,
    shared: env.MONGODB_URL !== undefined,
    onWait: () => log.info('waiting for the api to publish the task directory'),
  });
  const board = (await home.isHere(signal)) ? await createBoard({ dir: join(dataDir, 'tasks'), log }) : undefined;
  const leaving = new AbortController();
  const stopping = new AbortController();
  const ending = { leaving: leaving.signal, stopping: stopping.signal };
  const workerId = randomUUID();
  const self = await identifySelf();
  const parts = { env, log, hostId, workerId, self, database, board, client, ...ending, providers };
  const {
    hosts,
    probing,
    worktrees,
    approvals,
    admission,
    attempts,
    queue,
    scheduledLaunches,
    hostService,
    ...activities
  } = await createWorkerDependencies(parts);
  const { boardActivities, hostActivities, workerActivities } = activities;
  const lostWorkers = watchForLostWorkers({ hostId, workerId, hosts, client, log });

  const options = {
    connection,
    namespace: env.TEMPORAL_NAMESPACE,
    identity: workerIdentity(workerId),
    // Cancelling reaches an agent with the next heartbeat that is sent, so they are not throttled for long.
    maxHeartbeatThrottleInterval: Math.min(500, env.BOARD_HEARTBEAT_TIMEOUT_MS / 4),
    // How long a dead worker's cached workflows wait before another one takes them over.
    stickyQueueScheduleToStartTimeout: 2_000,
    shutdownGraceTime: 0,
    shutdownForceTime: env.BOARD_STOP_GRACE_MS + 10_000,
    interceptors: { activity: [createActivityFence(activityCallers)] },
  };
  const nexusServices = [hostService];
  const drainMs = env.BOARD_DRAIN_MS;
  const [onHost, ...others] = await Promise.all([
    Worker.create({
      ...options,
      taskQueue: hostQueue(hostId),
      activities: hostActivities,
      nexusServices,
      maxConcurrentActivityTaskExecutions: env.BOARD_WORKER_CONCURRENCY,
      // Temporal would end what runs itself; it is to be ended as the hand-over to recovery that it is, a moment before.
      shutdownGraceTime: drainMs === 0 ? 0 : drainMs + 2_000,
      shutdownForceTime: options.shutdownForceTime + drainMs,
    }),
    Worker.create({ ...options, taskQueue: queue, activities: workerActivities }),
    // A worker whose data directory is not the board's has no task files: it runs agents, and nothing else.
    ...(boardActivities
      ? [Worker.create({ ...options, ...workflows, taskQueue: boardQueue, activities: boardActivities, nexusServices })]
      : []),
  ]);
  const workers = [onHost, ...others];
  const queues = [...(boardActivities ? [boardQueue] : []), hostQueue(hostId), queue];
  // Before it takes work: whatever it then dies with, the other workers of the host can attribute it.
  const heartbeat = await startHeartbeat({
    hostId,
    workerId,
    process: self,
    hosts,
    admission,
    attempts,
    concurrency: env.BOARD_WORKER_CONCURRENCY,
    queues,
    log,
  });
  const agentsEnded = onHost.run();
  const ended = Promise.all([agentsEnded, ...others.map((worker) => worker.run())]).then(() => undefined);
  const drainSkipped = new AbortController();
  const probes = startProbing(probing);
  const reconcile = async (options: { stuck: boolean }): Promise<void> => {
    await reconcileWorktrees(
      { worktrees, client, heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS, log },
      options,
    ).catch((error: unknown) => log.warn({ err: error }, 'worktree reconciliation failed'));
    const graceMs = env.BOARD_STOP_GRACE_MS;
    await removeFilesOfEnded(attemptDirectories(dataDir), attempts, { now: new Date(), graceMs }).then(
      (removed) => {
        if (removed > 0) {
          log.info({ removed }, 'ended attempt files removed');
        }
      },
      (error: unknown) => log.warn({ err: error }, 'ended attempt file removal failed'),
    );
    await removeLocksOfRemoved(join(dataDir, 'fences'), worktrees).catch((error: unknown) =>
      log.warn({ err: error }, 'removed worktree lock cleanup failed'),
    );
    await reconcileApprovals(approvals, { overdueOnly: !options.stuck }).catch((error: unknown) =>
      log.warn({ err: error }, 'approval reconciliation failed'),
    );
    await ensureSchedules(client).catch((error: unknown) => log.warn({ err: error }, 'schedule creation failed'));
    await reconcileLaunchSchedules(client, { scheduledLaunches, log }).catch((error: unknown) =>
      log.warn({ err: error }, 'launch schedule reconciliation failed'),
    );
  };
  await reconcile({ stuck: true });
  await reconcileNow(client).catch((error: unknown) => log.warn({ err: error }, 'lost run scan failed'));
  const reconciling = setInterval(() => void reconcile({ stuck: false }), reconcileEveryMs);
  log.info({ hostId, queues }, 'worker started');

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    clearInterval(reconciling);
    // Agents that outlive their worker are not waited for: the next one reattaches to them.
    leaving.abort();
    await heartbeat.drain();
    const probed = probes.close();
    const watched = lostWorkers.close();
    if (onHost.getState() === 'RUNNING') {
      onHost.shutdown();
    }
    // The other queues are served meanwhile: runs that end are recorded, and commands are delivered.
    const timeIsUp = delay(drainMs, undefined, { signal: drainSkipped.signal }).catch(() => undefined);
    await Promise.race([agentsEnded.catch(() => undefined), timeIsUp]);
    drainSkipped.abort();
    stopping.abort();
    for (const worker of workers) {
      if (worker.getState() === 'RUNNING') {
        worker.shutdown();
      }
    }
    await ended;
    await heartbeat.close();
    await probed;
    await watched;
    await board?.close();
    await client.connection.close();
    await connection.close();
    await database.close();
  };

  return {
    hostId,
    servesBoard: boardActivities !== undefined,
    ended,
    skipDrain: () => drainSkipped.abort(),
    close: () => (closing ??= close()),
  };
}
