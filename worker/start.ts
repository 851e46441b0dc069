import { randomUUID } from 'node:crypto';
import { localWorkspace } from '../contracts/common';
import type { WorkerEnvironment } from '../platform/config/part-settings';
import type { Log } from '../platform/log/log';
import type { Models } from '../platform/models/models';
import type * as modelClient from '../platform/models/open';
import { closeAll, type Closer } from '../platform/processes/closers';
import { identifySelf } from '../platform/processes/identity';
import { removeAbandonedScratch } from '../platform/processes/scratch';
import { SleepWatch } from '../platform/processes/sleep-watch';
import { createSleepGuard } from '../platform/temporal/workers/sleep-guard';
import { checkedBoard } from '../stores/board-files/wrappers/checked-board';
import type { WorkspaceRegistry } from '../stores/identity/workspace-registry';
import { checkedWrites } from '../stores/port/wrappers/checked-writes';
import { asksAfterSleep } from './activities/activity-callers';
import type { WorkerParts } from './activities/shared';
import { buildWorkers, type WorkflowCode } from './build';
import { connect } from './connect';
import { createWorkerDependencies } from './deps';
import { drain, type Endings } from './drain';
import { watchForLostWorkers } from './lost-workers';
import { serve } from './serve';

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

/** What a worker runs: its workflows, and the providers of its agents when they are not the usual ones. */
export interface WorkerCode extends WorkflowCode, Pick<WorkerParts, 'providers'> {
  /** Which workspaces there are besides `local`. */
  registry?: WorkspaceRegistry | undefined;
  /** Ends a start that waits for Temporal or the stores. */
  signal?: AbortSignal;
}

/**
 * Starts the workers of this process: on the board's queue, on its host's, and on its own.
 *
 * @throws when it cannot be started; nothing stays open
 */
export async function startWorker(
  env: WorkerEnvironment,
  log: Log,
  { providers, signal, registry, ...workflows }: WorkerCode,
): Promise<RunningWorker> {
  const closers: Closer[] = [];
  const endings: Endings = {
    leaving: new AbortController(),
    drainSkipped: new AbortController(),
    stopping: new AbortController(),
  };
  try {
    const { connection, database, board, ...connected } = await connect({ env, log, signal }, closers);
    await removeAbandonedScratch().catch((error: unknown) => log.warn({ err: error }, 'scratch cleanup failed'));
    const sleep = new SleepWatch(env.BOARD_HEARTBEAT_TIMEOUT_MS / 3);
    closers.push(async () => sleep.close());
    const sleepGuard = createSleepGuard({ watch: sleep, isExempt: asksAfterSleep, log });
    const parts: WorkerParts = {
      ...connected,
      workspaceId: localWorkspace,
      directory: env.BOARD_DATA_DIR,
      database: checkedWrites(database, sleepGuard.assertAwake),
      board: board && checkedBoard(board, sleepGuard.assertAwake),
      sleep,
      sleepGuard,
      env,
      log,
      workerId: randomUUID(),
      self: await identifySelf(),
      leaving: endings.leaving.signal,
      stopping: endings.stopping.signal,
      providers,
      models: await modelsOf(env, log),
    };
    const dependencies = await createWorkerDependencies(parts, { registry, closers });
    const lostWorkers = watchForLostWorkers({ ...parts, hosts: dependencies.hosts });
    closers.push(() => lostWorkers.close());
    const workers = await buildWorkers({ parts, connection, dependencies, workflows }, closers);
    const serving = await serve({ parts, workers, dependencies, lostWorkers }, closers);
    const { hostId } = parts;
    log.info({ hostId, queues: workers.queues }, 'worker started');

    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await drain(serving, endings, env.BOARD_DRAIN_MS);
      await closeAll(closers, log);
      await serving.ended;
    };
    return {
      hostId,
      servesBoard: board !== undefined,
      ended: serving.ended,
      skipDrain: () => endings.drainSkipped.abort(),
      close: () => (closing ??= close()),
    };
  } catch (error) {
    endings.leaving.abort();
    endings.stopping.abort();
    await closeAll(closers, log);
    throw error;
  }
}

/** The models that activities ask. Their client takes 28 MB, and is loaded only where a catalog is configured. */
async function modelsOf({ BOARD_MODELS: path }: WorkerEnvironment, log: Log): Promise<Models | undefined> {
  if (path === undefined) {
    return undefined;
  }
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an `import()` of a file of ours is one of an ES module
  const { openModels } = require('../platform/models/open') as typeof modelClient;
  return openModels({ path, dryRun: false }, log);
}
