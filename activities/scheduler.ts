import type { Log } from '../platform/log/log';
import type { Policy } from '../runs/admission/capacity';
import type { Turn } from '../runs/admission/schedule';
import type { AttemptStore } from '../stores/attempt-store';
import { chooseNext } from './admission-control/choose';
import type { AdmissionControl } from './admission-control/dependencies';

export interface SchedulerDependencies {
  admission: AdmissionControl;
  attempts: Pick<AttemptStore, 'get'>;
  /** Tells a queued run to look at its entry; false when that run is over. */
  signalCapacity(attemptId: string): Promise<boolean>;
  /** Asks a run to stop without waiting for its end; false when that run is over. */
  requestStop(attemptId: string, actor: string): Promise<boolean>;
  log: Log;
  now(): Date;
}

/** How many entries one look takes up for each kind of repair. */
const batch = 100;
/** How long whoever asked for the end of an entry has to bring it about before the scheduler does. */
const cancelGraceMs = 5_000;

export function createSchedulerActivities(deps: SchedulerDependencies) {
  const { queue, reservations, requests, settings } = deps.admission;

  return {
    /**
     * Hands free capacity to queued launches in order: takes the entry, reserves, tells the run, which looks at
     * everything once more before it goes on. Repeating it after a crash between any two of these goes on there.
     *
     * @param input.turn whose turn it was when the last look ended
     * @returns `waiting`: 0 when nobody waits, a number because that is what recorded histories have
     */
    async dispatchQueued(input?: { turn?: Turn }): Promise<{ waiting: number; turn?: Turn }> {
      const turn = input?.turn;
      await bringAboutEnds();
      await takeUpStranded();
      const next = await handOut(turn);
      return { waiting: (await queue.isEmpty()) ? 0 : 1, ...(next === undefined ? {} : { turn: next }) };
    },
  };

  async function handOut(turn: Turn | undefined): Promise<Turn | undefined> {
    const { admission } = await settings.current();
    const usage = await reservations.usage();
    const limit = admission.enabled ? admission.limits.global.runs : null;
    if (limit !== null && (usage.global?.runs ?? 0) >= limit) return turn;
    const now = deps.now();
    const choice = await chooseNext(deps.admission, admission, usage, turn, now);
    const until = new Date(now.getTime() + admission.queue.leaseMs).toISOString();
    for (const { id, selection, policies } of choice.picks) {
      if (await queue.lease(id, selection, until)) await dispatch(id, policies, admission.leaseMs);
    }
    await choice.remember();
    return choice.turn;
  }

  async function dispatch(id: string, policies: Policy[], leaseMs: number): Promise<void> {
    const request = await requests.get(id);
    const reserved = request && (await reservations.reserve(request, policies, deps.now(), leaseMs));
    if (reserved?.outcome === 'blocked') {
      await queue.putBack(id);
      return;
    }
    const told = reserved?.outcome === 'held' && (await deps.signalCapacity(id));
    // Stopped while it was being dispatched: its own release may have come before our reservation.
    if (told && (await queue.get(id))?.state !== 'terminal') return;
    await abandon(id, 'QUEUE_AUTHORITY_REJECTED', 'The run that waited for this capacity is over.');
  }

  async function abandon(id: string, code: string, reason: string): Promise<void> {
    const now = deps.now();
    await queue.end(id, { code, reason, at: now.toISOString() });
    const record = await deps.attempts.get(id);
    const isOver = record === undefined || record.completion !== undefined || record.state === 'refused';
    if (isOver) await reservations.release(id, 'reconciled', reason, now);
    else await reservations.giveBack(id, now);
  }

  /** Entries that were handed out and not taken: put back with a pause, and, after so many times, given up. */
  async function takeUpStranded(): Promise<void> {
    const { admission } = await settings.current();
    const now = deps.now();
    for (const { _id: id, retries } of await queue.stranded(now.toISOString(), batch)) {
      if (retries >= admission.queue.maxRetries) {
        const reason = `It was handed out ${retries + 1} times and never taken.`;
        await abandon(id, 'QUEUE_RETRY_EXHAUSTED', reason);
        await deps.signalCapacity(id);
        continue;
      }
      await reservations.giveBack(id, now);
      const pause = admission.queue.retryBackoffMs * 2 ** retries;
      await queue.requeue(id, new Date(now.getTime() + pause).toISOString(), retries);
      deps.log.warn({ attemptId: id, retries }, 'a queued launch was not taken and is put back');
    }
  }

  /** Entries whose end somebody asked for and did not live to bring about. */
  async function bringAboutEnds(): Promise<void> {
    const before = new Date(deps.now().getTime() - cancelGraceMs).toISOString();
    for (const { _id: id, cancel } of await queue.toEnd(batch)) {
      if (!cancel || cancel.at > before) continue;
      if (await deps.requestStop(id, cancel.actor)) continue;
      await abandon(id, 'QUEUE_CANCELLED', cancel.reason);
    }
  }
}

export type SchedulerActivities = ReturnType<typeof createSchedulerActivities>;
