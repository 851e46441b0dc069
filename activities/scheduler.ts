import type { AdmissionSettings } from '../contracts/settings';
import type { Log } from '../platform/log/log';
import { evaluated, hostKey, policiesOf, scopesOf, type Policy, type Usage } from '../runs/admission/capacity';
import { schedule, type Candidate, type Plan, type Turn } from '../runs/admission/schedule';
import type { AttemptStore } from '../stores/attempt-store';
import type { HostStore } from '../stores/host-store';
import type { QueueRecord } from '../stores/queue-store';
import type { AdmissionControl } from './admission-control/dependencies';

export interface SchedulerDependencies {
  admission: AdmissionControl;
  attempts: Pick<AttemptStore, 'get'>;
  hosts: Pick<HostStore, 'capacityOf'>;
  /** Tells a queued run to look at its entry; false when that run is over. */
  signalCapacity(attemptId: string): Promise<boolean>;
  /** Asks a run to stop without waiting for its end; false when that run is over. */
  requestStop(attemptId: string, actor: string): Promise<boolean>;
  log: Log;
  now(): Date;
}

/** The bound of one snapshot of the queue. */
const windowSize = 1_000;
/** How many of them one look goes through. */
const mostWindows = 20;
/** How many entries one look takes up for each kind of repair. */
const batch = 100;
/** How long whoever asked for the end of an entry has to bring it about before the scheduler does. */
const cancelGraceMs = 5_000;

type Capacities = Map<string | null, { takesWork: boolean; runs: number | undefined }>;

export function createSchedulerActivities(deps: SchedulerDependencies) {
  const { queue, reservations, requests, trees, settings } = deps.admission;

  return {
    /**
     * Hands free capacity to queued launches in order: takes the entry, reserves, tells the run, which looks at
     * everything once more before it goes on. Repeating it after a crash between any two of these goes on there.
     *
     * @param input.turn whose turn it was when the last look ended
     */
    async dispatchQueued(input?: { turn?: Turn }): Promise<{ waiting: number; turn?: Turn }> {
      const turn = input?.turn;
      await bringAboutEnds();
      await takeUpStranded();
      const next = await handOut(turn);
      return { waiting: await queue.depth(), ...(next === undefined ? {} : { turn: next }) };
    },
  };

  /**
   * Looks at the queue one window after the other while there is room and something behind it: a thousand entries that
   * nothing can be done for now do not hide the next one that fits.
   */
  async function handOut(turn: Turn | undefined): Promise<Turn | undefined> {
    const { admission } = await settings.current();
    let next = turn;
    for (let page = 0; page < mostWindows; page += 1) {
      const usage = await reservations.usage();
      const limit = admission.enabled ? admission.limits.global.runs : null;
      if (limit !== null && (usage.global?.runs ?? 0) >= limit) return next;
      const now = deps.now();
      const { entries, isLast } = await queue.window(windowSize, now.toISOString(), page * windowSize);
      const plan = await handOutTo(entries, admission, usage, next, now);
      next = plan.turn;
      if (isLast || plan.picks.length >= admission.queue.scheduler.evaluationLimit) return next;
    }
    return next;
  }

  async function handOutTo(
    waiting: QueueRecord[],
    admission: AdmissionSettings,
    usage: Usage,
    turn: Turn | undefined,
    now: Date,
  ): Promise<Plan> {
    const growing = await dispatchable(waiting);
    const hosts = await capacities(growing);
    const entries = growing.filter(({ hostId }) => hosts.get(hostId)?.takesWork !== false);
    await holdBack(waiting, new Set(entries), hosts);
    const policies = new Map(
      entries.map((entry) => [entry._id, policiesOf(admission, entry, hosts.get(entry.hostId)?.runs)]),
    );
    const candidates = entries.map((entry) => candidateOf(entry, policies.get(entry._id) ?? []));
    const plan = schedule(candidates, usage, turn, admission.queue.scheduler, now.getTime());
    const byId = new Map(entries.map((entry) => [entry._id, entry]));
    for (const { id, selection } of plan.picks) {
      const until = new Date(now.getTime() + admission.queue.leaseMs).toISOString();
      if (await queue.lease(id, selection, until)) await dispatch(id, policies.get(id) ?? [], admission.leaseMs);
    }
    for (const { id, policies: limiting } of plan.blocked.slice(0, admission.queue.scheduler.evaluationLimit)) {
      const [first] = limiting;
      const same =
        byId.get(id)?.limitingKey === first?.key && byId.get(id)?.limitingPolicies.length === limiting.length;
      if (first && !same) await queue.limit(id, first.key, limiting.map(evaluated));
    }
    return plan;
  }

  /**
   * What waits for its tree or for a host that takes no work waits for no ceiling: new launches need not queue behind it,
   * unless they need the same host.
   */
  async function holdBack(waiting: QueueRecord[], entries: ReadonlySet<QueueRecord>, hosts: Capacities) {
    const held = waiting.filter((entry) => !entries.has(entry));
    for (const { _id: id, hostId, rootObjectiveId, limitingKey, limitingPolicies } of held) {
      const away = hostId !== null && hosts.get(hostId)?.takesWork === false;
      const key = away ? hostKey(hostId) : null;
      const scope = away ? ('host' as const) : ('tree' as const);
      const standing = limitingKey === key && limitingPolicies.some((policy) => policy.scope === scope);
      if (standing) continue;
      const scopeId = key ?? rootObjectiveId;
      await queue.limit(id, key, [{ policy: `${scope}.runs`, scope, scopeId, resource: 'runs', limit: 0 }]);
    }
  }

  /** Without those of trees that do not grow now; a cancelled tree's are being ended by its workflow. */
  async function dispatchable(entries: QueueRecord[]): Promise<QueueRecord[]> {
    const descendants = entries.filter(({ edge }) => edge !== 'root');
    if (descendants.length === 0) return entries;
    const closed = await trees.closed([...new Set(descendants.map(({ rootObjectiveId }) => rootObjectiveId))]);
    return entries.filter(({ edge, rootObjectiveId }) => edge === 'root' || !closed.has(rootObjectiveId));
  }

  async function capacities(entries: QueueRecord[]): Promise<Capacities> {
    const found: Capacities = new Map();
    for (const hostId of new Set(entries.map((entry) => entry.hostId))) {
      if (hostId !== null) found.set(hostId, await deps.hosts.capacityOf(hostId));
    }
    return found;
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

const candidateOf = (entry: QueueRecord, policies: Policy[]): Candidate => ({
  id: entry._id,
  workspaceId: entry.workspaceId,
  priority: entry.priority,
  enqueuedAt: Date.parse(entry.enqueuedAt),
  requested: entry.requested,
  policies,
  keys: scopesOf(entry).map(({ key }) => key),
});
