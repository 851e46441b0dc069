import type { Log } from '../platform/log/log';
import type { AdmissionStore, QueueEntry } from '../stores/admission-store';
import type { AttemptStore } from '../stores/attempt-store';

export interface SchedulerDependencies {
  admission: AdmissionStore;
  attempts: AttemptStore;
  /** Tells a queued run that it has capacity; false when that run is over. */
  signalCapacity(attemptId: string): Promise<boolean>;
  log: Log;
  now(): Date;
}

/** How many entries one look considers. */
const batch = 100;

export function createSchedulerActivities(deps: SchedulerDependencies) {
  return {
    /**
     * Hands free slots to queued launches in order: reserve, tell the run, take it off the queue. Repeating it after a
     * crash between any two of these finds the reservation made and goes on.
     */
    async dispatchQueued(): Promise<{ waiting: number }> {
      await freeOrphans();
      for (const entry of await deps.admission.waiting(batch)) {
        if (!(await deps.admission.reserve(entry._id, deps.now().toISOString()))) break;
        await dispatch(entry);
      }
      return { waiting: await deps.admission.countWaiting() };
    },
  };

  async function dispatch(entry: QueueEntry): Promise<void> {
    const told = await deps.signalCapacity(entry._id);
    const settled = await deps.admission.settle(entry._id, told ? 'dispatched' : 'terminal', deps.now().toISOString());
    // Stopped while it was being dispatched: its own release may have come before our reservation.
    if ((!told || !settled) && (await isOver(entry._id))) await deps.admission.release(entry._id);
  }

  async function isOver(attemptId: string): Promise<boolean> {
    const record = await deps.attempts.get(attemptId);
    return record?.completion !== undefined || record?.state === 'refused';
  }

  /** Slots of attempts that are over: left only by a crash between a reservation and its run's own release. */
  async function freeOrphans(): Promise<void> {
    const { used, holders } = await deps.admission.usage();
    if (used < deps.admission.limits.runs) return;
    for (const attemptId of holders) {
      if (!(await isOver(attemptId))) continue;
      await deps.admission.release(attemptId);
      deps.log.warn({ attemptId }, 'freed the slot of a run that is over');
    }
  }
}

export type SchedulerActivities = ReturnType<typeof createSchedulerActivities>;
