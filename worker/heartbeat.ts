import { availableParallelism, hostname, totalmem } from 'node:os';
import type { AdmissionControl } from '../activities/agent-run/admission/dependencies';
import type { LaunchFinding } from '../contracts/runs/launch/manifest';
import type { AnnouncedPresets } from '../contracts/settings/agent-preset';
import type { Log } from '../platform/log/log';
import type { VisibleProcess } from '../platform/processes/identity';
import type { ReservationRecord } from '../stores/runs/admission/reservation-record';
import type { ReservationStore } from '../stores/runs/admission/reservation-store';
import type { AttemptRecord } from '../stores/runs/attempt-store';
import type { HostStore, WorkerAnnouncement } from '../stores/runs/hosts/host-store';
import { leaseWitness } from './lease-witness';

export interface HeartbeatDependencies {
  hostId: string;
  /** Names this worker process, until it ends. */
  workerId: string;
  process: VisibleProcess;
  hosts: HostStore;
  /** The capacity of all workspaces. */
  admission: Pick<AdmissionControl, 'reservations' | 'queue' | 'settings' | 'wakeScheduler' | 'now'>;
  attempts: AttemptsOfAll;
  /** Runs this worker executes at a time. */
  concurrency: number;
  /** The release that it runs, and the version of the worker deployment that it is a part of. */
  release?: Pick<WorkerAnnouncement, 'version' | 'buildId'>;
  queues: string[];
  /** What runs lack on this host now. */
  findings: () => Promise<LaunchFinding[]>;
  /** What this host has for the agents of today. */
  agentPresets: () => AnnouncedPresets;
  log: Log;
}

export interface WorkerHeartbeat {
  /** Records that this worker takes no new work; its host stays live for what runs. */
  drain(): Promise<void>;
  /** Stops, and takes this worker from its host. */
  close(): Promise<void>;
}

/** The attempts of all workspaces. */
export interface AttemptsOfAll {
  get(attemptId: string, workspaceId: string): Promise<Pick<AttemptRecord, 'state'> | undefined>;
}

/** How often a host reports that it is live, in milliseconds, however rarely leases are renewed. */
const announceIntervalMs = 15_000;
/** How soon other settings are noticed, in milliseconds. */
const noticeWithinMs = 1_000;
/** How old a reservation must be before it is compared with its attempt, in milliseconds. */
const settledAfterMs = 60_000;
/** How many reservations are read at a time. */
const defaultPageSize = 1_000;

/**
 * Renews what a worker publishes: that its host is live and what it can do, the leases of everything reserved on it, and, for
 * hosts that are gone, the end of theirs. Every worker does this; none is special.
 */
export async function startHeartbeat(deps: HeartbeatDependencies): Promise<WorkerHeartbeat> {
  const { hostId, workerId, hosts, admission, findings, log } = deps;
  const state = { draining: false, closed: false, timer: undefined as NodeJS.Timeout | undefined };
  let round: Promise<unknown> = Promise.resolve();
  const witness = leaseWitness();

  const announce = async () => {
    const announcement: WorkerAnnouncement = {
      capacity: {
        runs: deps.concurrency,
        processes: availableParallelism(),
        memoryMb: Math.floor(totalmem() / 1024 ** 2),
      },
      queues: deps.queues,
      draining: state.draining,
      findings: await findings(),
      agentPresets: deps.agentPresets(),
      process: deps.process,
      ...deps.release,
    };
    const reservedRuns = await admission.reservations.runsOn(hostId);
    await hosts.announceWorker(hostId, { ...announcement, hostname: hostname(), workerId, reservedRuns });
  };

  const renewAll = async () => {
    await announce();
    const { leaseMs, heartbeatMs } = (await admission.settings.current()).admission;
    const now = admission.now();
    // The first worker does for all what belongs to no host; the next one does it where that one has died.
    const recentMs = pauseFor({ leaseMs, heartbeatMs }) / 2;
    await admission.reservations.renewHost(hostId, now, leaseMs);
    const unhosted = await admission.reservations.renewUnhosted(now, leaseMs, new Date(now.getTime() - recentMs));
    if (witness.sawLeaseThrough(now, leaseMs)) {
      const expired = await admission.reservations.expire(now);
      for (const { _id: attemptId } of expired) {
        log.warn({ attemptId }, 'admission lease expired');
      }
    }
    const repaired =
      (await admission.reservations.repairInTurn(now, recentMs)) +
      (await reconcileReservations(deps, now, { unhosted }));
    if (repaired > 0) {
      log.warn({ repaired }, 'orphaned capacity released');
    }
    // The scheduler runs on a timer while a launch waits; one that an operator terminated is started again by this.
    if (!(await admission.queue.isEmpty())) {
      await admission.wakeScheduler();
    }
  };

  const pauseMs = async (): Promise<number> => {
    try {
      return pauseFor((await admission.settings.current()).admission);
    } catch (error) {
      log.warn({ err: error }, 'settings read failed');
      return announceIntervalMs;
    }
  };

  /** Waits until the next round is due. Leases that are set shorter meanwhile are not missed: the pause is, too. */
  const scheduleNext = async (restedMs = 0): Promise<void> => {
    const leftMs = Math.max(0, (await pauseMs()) - restedMs);
    if (state.closed) {
      return;
    }
    const next = leftMs <= noticeWithinMs ? tick : () => scheduleNext(restedMs + noticeWithinMs);
    state.timer = setTimeout(() => void next(), Math.min(leftMs, noticeWithinMs));
  };

  const tick = (): Promise<void> => {
    const running = renewAll()
      .catch((error: unknown) => log.warn({ err: error }, 'admission lease renewal failed'))
      .then(() => scheduleNext());
    round = running;
    return running;
  };

  await announce();
  void tick();

  return {
    async drain() {
      state.draining = true;
      await announce().catch((error: unknown) => log.warn({ err: error }, 'drain announcement failed'));
    },
    async close() {
      state.closed = true;
      clearTimeout(state.timer);
      await round;
      clearTimeout(state.timer);
      await hosts.withdrawWorker(hostId, workerId).catch(() => undefined);
    },
  };
}

/** How long a worker rests between two rounds. A heartbeat that is set longer than the lease would let every lease run out. */
const pauseFor = ({ leaseMs, heartbeatMs }: { leaseMs: number; heartbeatMs: number }): number =>
  Math.min(heartbeatMs, Math.ceil(leaseMs / 3), announceIntervalMs);

/** The reservations, and the attempts they are compared with. */
interface ReconcileDependencies extends Pick<HeartbeatDependencies, 'attempts'> {
  /** The host of this worker. */
  hostId: string;
  admission: { reservations: Pick<ReservationStore, 'activeOn' | 'silentSince' | 'release'> };
}

interface ReconcileOptions {
  /** Reservations without a host that this worker has renewed. */
  unhosted?: ReservationRecord[];
  pageSize?: number;
}

/**
 * Releases reservations of attempts that have ended: left by a crash between the end and its release. Each worker looks at those
 * of its host and those that no host renews. Returns their number.
 */
export async function reconcileReservations(
  { hostId, admission, attempts }: ReconcileDependencies,
  now: Date,
  { unhosted = [], pageSize = defaultPageSize }: ReconcileOptions = {},
): Promise<number> {
  const settledBefore = new Date(now.getTime() - settledAfterMs);
  const before = settledBefore.toISOString();
  let released = 0;
  let failure: { error: unknown } | undefined;
  for (const reservation of [...(await admission.reservations.activeOn(hostId)), ...unhosted]) {
    await compare(reservation);
  }
  for await (const reservation of admission.reservations.silentSince(settledBefore, pageSize)) {
    await compare(reservation);
  }
  if (failure) {
    throw failure.error;
  }
  return released;

  async function compare({ _id: id, updatedAt, workspaceId }: ReservationRecord): Promise<void> {
    if (updatedAt > before) {
      return;
    }
    let record;
    try {
      record = await attempts.get(id, workspaceId);
    } catch (error) {
      // Of a workspace that cannot be read now: those of the others are released nevertheless.
      failure ??= { error };
      return;
    }
    if (record && record.state !== 'ended' && record.state !== 'refused') {
      return;
    }
    await admission.reservations.release(id, { reason: 'reconciled', evidence: 'Its attempt had ended.', now });
    released += 1;
  }
}
