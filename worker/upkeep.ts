import { availableParallelism, hostname, totalmem } from 'node:os';
import type { AdmissionControl } from '../activities/admission-control/dependencies';
import type { Log } from '../platform/log/log';
import type { VisibleProcess } from '../platform/processes/identity';
import type { AttemptStore } from '../stores/attempt-store';
import type { HostStore, WorkerAnnouncement } from '../stores/host-store';
import type { ReservationStore } from '../stores/reservation-store';
import { leaseWitness } from './lease-witness';

export interface UpkeepDependencies {
  hostId: string;
  /** Names this worker process, until it ends. */
  workerId: string;
  process: VisibleProcess;
  hosts: HostStore;
  admission: AdmissionControl;
  attempts: Pick<AttemptStore, 'get'>;
  /** Runs this worker executes at a time. */
  concurrency: number;
  queues: string[];
  log: Log;
}

export interface Upkeep {
  /** Says that this worker takes no new work; its host goes on to be there for what runs. */
  drain(): Promise<void>;
  /** Stops, and takes this worker from its host. */
  close(): Promise<void>;
}

/** How often a host says that it is live, in milliseconds, however rarely leases are renewed. */
const announceEveryMs = 15_000;
/** How soon other settings are noticed, in milliseconds. */
const noticeWithinMs = 1_000;
/** How old a reservation must be before it is compared with its attempt, in milliseconds. */
const settledAfterMs = 60_000;
/** How many reservations are read at a time. */
const defaultPageSize = 1_000;

/**
 * Keeps up what a worker holds for others to see: that its host is there and what it can do, the leases of everything
 * reserved on it, and, for hosts that are no longer there, the end of theirs. Every worker does this; none is special.
 */
export async function startUpkeep(deps: UpkeepDependencies): Promise<Upkeep> {
  const { hostId, workerId, hosts, admission, log } = deps;
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
      process: deps.process,
    };
    const reservedRuns = await admission.reservations.runsOn(hostId);
    await hosts.announceWorker(hostId, { ...announcement, hostname: hostname(), workerId, reservedRuns });
  };

  const work = async () => {
    await announce();
    const { leaseMs } = (await admission.settings.current()).admission;
    const now = admission.now();
    await admission.reservations.renew(hostId, now, leaseMs);
    await admission.reservations.renew(null, now, leaseMs);
    if (witness.sawLeaseThrough(now, leaseMs)) {
      const expired = await admission.reservations.expire(now);
      for (const { _id: attemptId } of expired) log.warn({ attemptId }, 'the lease of a reservation has run out');
    }
    const repaired = (await admission.reservations.repair(now)) + (await reconcileReservations(deps, now));
    if (repaired > 0) log.warn({ repaired }, 'freed capacity that a crash had left behind');
    // It looks by itself while something waits; one that an operator terminated is started again by this.
    if (!(await admission.queue.isEmpty())) await admission.wakeScheduler();
  };

  const pauseMs = async (): Promise<number> => {
    try {
      const { leaseMs, heartbeatMs } = (await admission.settings.current()).admission;
      // A heartbeat that is set longer than the lease would let every lease run out.
      return Math.min(heartbeatMs, Math.ceil(leaseMs / 3), announceEveryMs);
    } catch (error) {
      log.warn({ err: error }, 'the settings could not be read');
      return announceEveryMs;
    }
  };

  /** Waits until the next round is due. Leases that are set shorter meanwhile are not missed: the pause is, too. */
  const rest = async (restedMs = 0): Promise<void> => {
    const leftMs = Math.max(0, (await pauseMs()) - restedMs);
    if (state.closed) return;
    const next = leftMs <= noticeWithinMs ? tick : () => rest(restedMs + noticeWithinMs);
    state.timer = setTimeout(() => void next(), Math.min(leftMs, noticeWithinMs));
  };

  const tick = (): Promise<void> => {
    const running = work()
      .catch((error: unknown) => log.warn({ err: error }, 'the upkeep of admission failed'))
      .then(() => rest());
    round = running;
    return running;
  };

  await announce();
  void tick();

  return {
    async drain() {
      state.draining = true;
      await announce().catch((error: unknown) => log.warn({ err: error }, 'the drain could not be announced'));
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

/** What is compared with its attempts, and the attempts. */
interface Reconciled extends Pick<UpkeepDependencies, 'attempts'> {
  admission: { reservations: Pick<ReservationStore, 'active' | 'release'> };
}

/** Releases what attempts hold that have ended: left by a crash between the end and its release. Answers how much. */
export async function reconcileReservations(
  { admission, attempts }: Reconciled,
  now: Date,
  pageSize = defaultPageSize,
): Promise<number> {
  const before = new Date(now.getTime() - settledAfterMs).toISOString();
  let released = 0;
  for await (const { _id: id, updatedAt } of admission.reservations.active(pageSize)) {
    if (updatedAt > before) continue;
    const record = await attempts.get(id);
    if (record && record.state !== 'ended' && record.state !== 'refused') continue;
    await admission.reservations.release(id, 'reconciled', 'Its attempt had ended.', now);
    released += 1;
  }
  return released;
}
