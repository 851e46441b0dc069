import { version } from '../package.json';
import { compact } from '../platform/json/compact';
import type { Closer } from '../platform/processes/closers';
import { claimFirstDeployment } from '../platform/temporal/workers/worker-deployment';
import type { WorkerParts } from './activities/shared';
import type { TemporalWorkers } from './build';
import type { WorkerDependencies } from './deps';
import { startHeartbeat, type WorkerHeartbeat } from './heartbeat';
import type { watchForLostWorkers } from './lost-workers';
import { startProbing } from './probing';
import { startReconciliation } from './reconcile';

export interface ServeSources {
  parts: WorkerParts;
  workers: TemporalWorkers;
  dependencies: WorkerDependencies;
  /** The watch for the other workers of the host. */
  lostWorkers: ReturnType<typeof watchForLostWorkers>;
}

/** A worker that serves its queues. */
export interface Serving extends Pick<TemporalWorkers, 'onHost'> {
  heartbeat: WorkerHeartbeat;
  /** Settles when the host's queue is no longer served: its agents have ended. */
  agentsEnded: Promise<void>;
  /** Settles when no queue is served; rejects when a worker fails in a way it cannot recover from. */
  ended: Promise<void>;
  /** What is done at intervals, and not begun again when the worker is to end. */
  rounds: { close(): Promise<void> }[];
  /** Shuts down the workers that still run. */
  shutDown: () => void;
}

/** Serves the queues and begins what is done at intervals; the closers end both. */
export async function serve(
  { parts, workers, dependencies, lostWorkers }: ServeSources,
  closers: Closer[],
): Promise<Serving> {
  const { env, log, hostId, workerId, self } = parts;
  const { onHost, others, queues } = workers;
  const { hosts, admission, attempts } = dependencies;
  // Before it takes work: whatever it then dies with, the other workers of the host can attribute it.
  const heartbeat = await startHeartbeat({
    hostId,
    workerId,
    process: self,
    hosts,
    admission,
    attempts,
    concurrency: env.BOARD_WORKER_CONCURRENCY,
    release: { version, ...compact({ buildId: env.BOARD_WORKER_BUILD_ID }) },
    queues,
    findings: dependencies.hostFindings,
    agentPresets: dependencies.agentPresets,
    log,
  });
  closers.push(() => heartbeat.close());
  const agentsEnded = onHost.run();
  const ended = Promise.all([agentsEnded, ...others.map((worker) => worker.run())]).then(() => undefined);
  const shutDown = () => shutDownRunning([onHost, ...others]);
  closers.push(() => {
    shutDown();
    return ended;
  });
  if (env.BOARD_WORKER_BUILD_ID !== undefined && parts.board) {
    closers.push(startClaim(parts, env.BOARD_WORKER_BUILD_ID));
  }
  const probing = startProbing(() => dependencies.workspaces.each(), log);
  closers.push(() => probing.close());
  const reconciliation = await startReconciliation({ workspaces: dependencies.workspaces, env, log });
  closers.push(() => reconciliation.close());
  return { onHost, heartbeat, agentsEnded, ended, rounds: [reconciliation, probing, lostWorkers], shutDown };
}

/** The server knows a version once its worker polls. @returns what ends it */
function startClaim({ client, log }: Pick<WorkerParts, 'client' | 'log'>, buildId: string): Closer {
  const closing = new AbortController();
  const claimed = claimFirstDeployment(client, { buildId, log, signal: closing.signal }).catch((error: unknown) => {
    if (!closing.signal.aborted) {
      log.warn({ err: error, buildId }, 'worker version not made current');
    }
  });
  return async () => {
    closing.abort();
    await claimed;
  };
}

function shutDownRunning(workers: TemporalWorkers['others']): void {
  for (const worker of workers) {
    if (worker.getState() === 'RUNNING') {
      worker.shutdown();
    }
  }
}
