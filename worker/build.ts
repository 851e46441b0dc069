import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { Closer } from '../platform/processes/closers';
import { createActivityFence } from '../platform/temporal/workers/activity-fence';
import { deploymentOptions } from '../platform/temporal/workers/worker-deployment';
import { traceActivities } from '../platform/tracing/activities';
import { boardQueue, hostQueue } from '../workflows/queues';
import { workspaceWorkflow } from '../workflows/workspace-ids';
import { activityCallers } from './activities/activity-callers';
import type { WorkerParts } from './activities/shared';
import type { WorkerDependencies } from './deps';
import { workerIdentity } from './lost-workers';

/** Where the code of the workflows is. */
export type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

export interface BuildSources {
  parts: WorkerParts;
  connection: NativeConnection;
  dependencies: WorkerDependencies;
  workflows: WorkflowCode;
}

/** The workers of Temporal that one process runs. */
export interface TemporalWorkers {
  /** On the host's queue: it runs the agents. */
  onHost: Worker;
  /** On the process's own queue and, where the task files are, on the board's. */
  others: Worker[];
  queues: string[];
}

/** Creates the workers of this process, which the closers end unless they were served. */
export async function buildWorkers(
  { parts: { env, hostId, workerId, sleepGuard }, connection, dependencies, workflows }: BuildSources,
  closers: Closer[],
): Promise<TemporalWorkers> {
  const { boardActivities, hostActivities, workerActivities, hostService, queue } = dependencies;
  const common = {
    connection,
    namespace: env.TEMPORAL_NAMESPACE,
    identity: workerIdentity(workerId),
    // Cancelling reaches an agent with the next heartbeat that is sent, so they are not throttled for long.
    maxHeartbeatThrottleInterval: Math.min(500, env.BOARD_HEARTBEAT_TIMEOUT_MS / 4),
    // How long a dead worker's cached workflows wait before another one takes them over.
    stickyQueueScheduleToStartTimeout: 2_000,
    ...shutdownTimes(env),
    interceptors: {
      activity: [
        createActivityFence({
          callers: activityCallers,
          idOf: (id) => workspaceWorkflow(id).id,
          proofsOf: dependencies.proofsOf,
        }),
        traceActivities,
        sleepGuard.interceptor,
      ],
    },
  };
  const nexusServices = [hostService];
  const host: WorkerOptions = {
    ...common,
    ...drainTimes(env),
    taskQueue: hostQueue(hostId),
    activities: hostActivities,
    nexusServices,
    maxConcurrentActivityTaskExecutions: env.BOARD_WORKER_CONCURRENCY,
  };
  const others: WorkerOptions[] = [
    { ...common, taskQueue: queue, activities: workerActivities },
    // A worker whose data directory is not the board's has no task files: it runs agents, and nothing else.
    ...(boardActivities
      ? [
          {
            ...common,
            ...workflows,
            ...deploymentOptions(env),
            taskQueue: boardQueue,
            activities: boardActivities,
            nexusServices,
          },
        ]
      : []),
  ];
  const [onHost, ...rest] = await createAll([host, ...others], closers);
  return {
    onHost,
    others: rest,
    queues: [...(boardActivities ? [boardQueue] : []), hostQueue(hostId), queue],
  };
}

const shutdownTimes = ({ BOARD_STOP_GRACE_MS: stopGraceMs }: WorkerEnvironment) => ({
  shutdownGraceTime: 0,
  shutdownForceTime: stopGraceMs + 10_000,
});

/** Temporal would end what runs itself; it is to be ended as the hand-over to recovery that it is, a moment before. */
const drainTimes = (env: WorkerEnvironment) => ({
  shutdownGraceTime: env.BOARD_DRAIN_MS === 0 ? 0 : env.BOARD_DRAIN_MS + 2_000,
  shutdownForceTime: shutdownTimes(env).shutdownForceTime + env.BOARD_DRAIN_MS,
});

/** Creates them side by side; when one cannot be created, the closers have those that were. */
async function createAll(
  options: [WorkerOptions, ...WorkerOptions[]],
  closers: Closer[],
): Promise<[Worker, ...Worker[]]> {
  const create = (each: WorkerOptions) =>
    Worker.create(each).then((worker) => {
      closers.push(() => discard(worker));
      return worker;
    });
  const [first, ...others] = options;
  const created = [create(first), ...others.map(create)] as const;
  await Promise.allSettled(created);
  return Promise.all(created);
}

/** A worker that was never run holds its connection and its threads, and only the end of a run releases them. */
async function discard(worker: Worker): Promise<void> {
  if (worker.getState() !== 'INITIALIZED') {
    return;
  }
  const ended = worker.run();
  worker.shutdown();
  await ended;
}
