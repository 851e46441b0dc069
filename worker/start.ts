import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { Log } from '../platform/log/log';
import { awaitSpace } from '../platform/processes/await-space';
import { openDataDirectory } from '../platform/processes/data-directory';
import { identifySelf } from '../platform/processes/identity';
import { secretValues } from '../platform/config/secret-values';
import { hideOwnSecrets } from '../platform/log/own-secrets';
import { connectClient, connectWorker } from '../platform/temporal/connect';
import { discoverTemporal } from '../platform/temporal/discover';
import { temporalSecurity } from '../platform/temporal/security';
import { ensureSearchAttributes } from '../platform/temporal/ensure-search-attributes';
import { createBoard } from '../stores/board-files/board';
import { openBoardHome } from '../stores/board-home';
import { openDatabase, storeOptions } from '../stores/open';
import { attemptDirectories, removeFilesOfEnded } from '../activities/attempt-files';
import { removeLocksOfRemoved } from '../activities/worktree/removed-locks';
import { boardQueue, hostQueue } from '../workflows/queues';
import { createActivityFence } from '../platform/temporal/activity-fence';
import { activityCallers } from './activity-callers';
import { createWorkerDependencies } from './deps';
import { hostIdOf } from './host';
import { watchForLostWorkers, workerIdentity } from './lost-workers';
import { reconcileWorktrees } from './reconcile';
import type { WorkerParts } from './shared';
import { startUpkeep } from './upkeep';
import { startProbing } from './probing';
import { installRuntime } from '../platform/temporal/runtime';
import { reconcileApprovals } from './reconcile-approvals';
import { createScheduledLaunchStore } from '../stores/scheduled-launch-store';
import { reconcileLaunchSchedules } from './launch-schedules';
import { ensureSchedules, reconcileNow } from './schedules';

export interface RunningWorker {
  hostId: string;
  /** Rejects when a worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  /** Whether it serves the board's own queue, because the task files are in its data directory. */
  servesBoard: boolean;
  /**
   * Takes no new work, lets running agents finish for as long as `BOARD_DRAIN_MS`, hands what is left to recovery, and
   * lets go of everything.
   */
  close(): Promise<void>;
  /** Ends the wait of a `close` for running agents. */
  hurry(): void;
}

/** How often operations whose workflow was lost are looked for, in milliseconds. */
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
    onWait: () => log.info('waiting for the api to say where the task files are'),
  });
  const board = (await home.isHere(signal)) ? await createBoard({ dir: join(dataDir, 'tasks'), log }) : undefined;
  const leaving = new AbortController();
  const stopping = new AbortController();
  const ending = { leaving: leaving.signal, stopping: stopping.signal };
  const scheduledLaunches = await createScheduledLaunchStore(database);
  const workerId = randomUUID();
  const self = await identifySelf();
  const parts = { env, log, hostId, workerId, self, database, board, client, ...ending, providers };
  const { hosts, probing, worktrees, approvals, admission, attempts, queue, hostQuestions, ...activities } =
    await createWorkerDependencies(parts);
  const { boardActivities, hostActivities, workerActivities } = activities;
  const lostWorkers = watchForLostWorkers({ hostId, workerId, hosts, client, log });

  const options = {
    connection,
    namespace: env.TEMPORAL_NAMESPACE,
    identity: workerIdentity(workerId),
    // Cancelling reaches an agent with the next heartbeat that is sent, so they are not held back for long.
    maxHeartbeatThrottleInterval: Math.min(500, env.BOARD_HEARTBEAT_TIMEOUT_MS / 4),
    // How long a dead worker's cached workflows wait before another one takes them over.
    stickyQueueScheduleToStartTimeout: 2_000,
    shutdownGraceTime: 0,
    shutdownForceTime: env.BOARD_STOP_GRACE_MS + 10_000,
    interceptors: { activity: [createActivityFence(activityCallers)] },
  };
  const nexusServices = [hostQuestions];
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
    // One whose data directory is not the board's has no task files to look at: it runs agents, and nothing else.
    ...(boardActivities
      ? [Worker.create({ ...options, ...workflows, taskQueue: boardQueue, activities: boardActivities, nexusServices })]
      : []),
  ]);
  const workers = [onHost, ...others];
  const queues = [...(boardActivities ? [boardQueue] : []), hostQueue(hostId), queue];
  // Before it takes work: whatever it then dies with, the other workers of the host know whose it was.
  const upkeep = await startUpkeep({
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
  const hurried = new AbortController();
  const probes = startProbing(probing);
  const reconcile = async (options: { stuck: boolean }): Promise<void> => {
    await reconcileWorktrees(
      { worktrees, client, heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS, log },
      options,
    ).catch((error: unknown) => log.warn({ err: error }, 'worktrees could not be reconciled'));
    const graceMs = env.BOARD_STOP_GRACE_MS;
    await removeFilesOfEnded(attemptDirectories(dataDir), attempts, { now: new Date(), graceMs }).then(
      (removed) => {
        if (removed > 0) log.info({ removed }, 'removed the files of attempts that have ended');
      },
      (error: unknown) => log.warn({ err: error }, 'files of ended attempts could not be removed'),
    );
    await removeLocksOfRemoved(join(dataDir, 'fences'), worktrees).catch((error: unknown) =>
      log.warn({ err: error }, 'locks of removed worktrees could not be removed'),
    );
    await reconcileApprovals(approvals, { overdueOnly: !options.stuck }).catch((error: unknown) =>
      log.warn({ err: error }, 'approvals could not be reconciled'),
    );
    await ensureSchedules(client).catch((error: unknown) => log.warn({ err: error }, 'schedules could not be made'));
    await reconcileLaunchSchedules(client, { scheduledLaunches, log }).catch((error: unknown) =>
      log.warn({ err: error }, 'schedules of launches could not be compared'),
    );
  };
  await reconcile({ stuck: true });
  await reconcileNow(client).catch((error: unknown) => log.warn({ err: error }, 'lost runs could not be looked for'));
  const reconciling = setInterval(() => void reconcile({ stuck: false }), reconcileEveryMs);
  log.info({ hostId, queues }, 'working');

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    clearInterval(reconciling);
    // Agents that outlive their worker are not waited for: the next one goes on with them.
    leaving.abort();
    await upkeep.drain();
    const probed = probes.close();
    const watched = lostWorkers.close();
    if (onHost.getState() === 'RUNNING') onHost.shutdown();
    // The other queues are served meanwhile: runs that end are recorded, and agents are spoken to.
    const timeIsUp = delay(drainMs, undefined, { signal: hurried.signal }).catch(() => undefined);
    await Promise.race([agentsEnded.catch(() => undefined), timeIsUp]);
    hurried.abort();
    stopping.abort();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await ended;
    await upkeep.close();
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
    hurry: () => hurried.abort(),
    close: () => (closing ??= close()),
  };
}
