import type { AdmissionSettings, Features } from '../../contracts/settings/settings';
import { policiesOf } from '../../domain/admission/capacity';
import type { WorkspaceTurn } from '../../domain/admission/schedule';
import { compact } from '../../platform/json/compact';
import type { Position } from '../../platform/lists/page';
import type { Log } from '../../platform/log/log';
import type { AdmissionRequestStore } from '../../stores/runs/admission/admission-request-store';
import type { QueueRecord, QueueStore } from '../../stores/runs/admission/queue-store';
import type { ReservationStore } from '../../stores/runs/admission/reservation-store';
import type { TreeStore } from '../../stores/runs/admission/tree-store';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { HostStore } from '../../stores/runs/hosts/host-store';
import { chooseNext } from '../agent-run/admission/choose';
import { hostSweep } from './host-sweep';
import { recentCapacities } from './recent-capacities';

/** What the scheduler needs of the workspace of an entry. */
export interface SchedulerWorkspace {
  requests: Pick<AdmissionRequestStore, 'get'>;
  trees: Pick<TreeStore, 'closed'>;
  attempts: Pick<AttemptStore, 'get'>;
  /** Signals a queued run to read its entry; false when that run is over. */
  signalCapacity(attemptId: string): Promise<boolean>;
  /** Requests a stop of a run without waiting for its end; false when that run is over. */
  requestStop(attemptId: string, actor: string): Promise<boolean>;
}

export interface SchedulerDependencies {
  /** Of all workspaces, which compete for the same capacity. */
  queue: QueueStore;
  reservations: ReservationStore;
  settings: { current(): Promise<Pick<Features, 'admission'>> };
  hosts: Pick<HostStore, 'capacityOf' | 'capacities'>;
  /** Rejects when the workspace cannot be opened. */
  inWorkspace(workspaceId: string): Promise<SchedulerWorkspace>;
  log: Log;
  now(): Date;
}

/** How many entries one pass processes for each kind of repair; the next pass has those after them, and the first again at the end. */
const batch = 100;
/** How long the actor who requested the end of an entry has to bring it about before the scheduler does. */
const cancelGraceMs = 5_000;

export function createSchedulerActivities(deps: SchedulerDependencies) {
  const { queue, reservations, settings } = deps;
  const capacities = recentCapacities(deps);
  const sweep = hostSweep(deps);
  // Entries that cannot be repaired yet, as of a workspace that cannot be opened, are not in the way of those after them.
  const positions: { toEnd?: Position | undefined; stranded?: Position | undefined } = {};

  return {
    /**
     * Hands free capacity to queued launches in order: takes the entry, reserves, signals the run, which checks everything once
     * more before it proceeds. Repeated after a crash between any two of these, it resumes there.
     *
     * @param input.turn whose turn it was when the last pass ended
     * @returns `waiting`: 0 when no launch waits, a number because that is what recorded histories have
     */
    async dispatchQueued(input?: { turn?: WorkspaceTurn }): Promise<{ waiting: number; turn?: WorkspaceTurn }> {
      const turn = input?.turn;
      await bringAboutEnds();
      await adoptStranded();
      const next = await handOut(turn);
      return { waiting: (await queue.isEmpty()) ? 0 : 1, ...compact({ turn: next }) };
    },
  };

  async function handOut(turn: WorkspaceTurn | undefined): Promise<WorkspaceTurn | undefined> {
    const { admission } = await settings.current();
    const usage = await reservations.usage();
    const limit = admission.enabled ? admission.limits.global.runs : null;
    if (limit !== null && (usage.global?.runs ?? 0) >= limit) {
      return turn;
    }
    const now = deps.now();
    const live = await capacities();
    const choice = await chooseNext({ ...deps, capacities: live, closedTrees }, admission, { usage, turn, now });
    const until = new Date(now.getTime() + admission.queue.leaseMs).toISOString();
    for (const { id, selection } of choice.picks) {
      const leased = await queue.lease(id, selection, until);
      if (leased) {
        await dispatch(leased, admission);
      }
    }
    await choice.recordBlocked();
    await sweep({ admission, usage, capacities: live, isFull: choice.isFull });
    return choice.turn;
  }

  /** One workspace that cannot be opened stops no other: its entries wait until it can. */
  async function workspaceOf(workspaceId: string): Promise<SchedulerWorkspace | undefined> {
    try {
      return await deps.inWorkspace(workspaceId);
    } catch (err) {
      deps.log.error({ err, workspaceId }, 'workspace of queued launches not available');
      return undefined;
    }
  }

  /** Of the trees of these entries, those that do not grow now; all of a workspace that cannot be opened. */
  async function closedTrees(entries: readonly QueueRecord[]): Promise<Set<string>> {
    const closed: string[] = [];
    for (const workspaceId of new Set(entries.map((entry) => entry.workspaceId))) {
      const roots = entries
        .filter((entry) => entry.workspaceId === workspaceId)
        .map(({ rootObjectiveId }) => rootObjectiveId);
      const workspace = await workspaceOf(workspaceId);
      closed.push(...(workspace ? await workspace.trees.closed([...new Set(roots)]) : roots));
    }
    return new Set(closed);
  }

  async function dispatch(entry: QueueRecord, admission: AdmissionSettings): Promise<void> {
    const { _id: id, workspaceId, hostId } = entry;
    const workspace = await workspaceOf(workspaceId);
    // It was chosen by what the host had a moment ago.
    const host = hostId === null ? undefined : await deps.hosts.capacityOf(hostId);
    if (!workspace || host?.takesWork === false) {
      await queue.putBack(id);
      return;
    }
    const request = await workspace.requests.get(id);
    const policies = policiesOf(admission, entry, host?.runs);
    const { leaseMs } = admission;
    const reserved = request && (await reservations.reserve(request, policies, { now: deps.now(), leaseMs }));
    if (reserved?.outcome === 'blocked') {
      await queue.putBack(id);
      return;
    }
    const signalled = reserved?.outcome === 'held' && (await workspace.signalCapacity(id));
    // Stopped while it was being dispatched: its own release may have come before our reservation.
    if (signalled && (await queue.get(id))?.state !== 'terminal') {
      return;
    }
    await abandon(id, workspace, {
      code: 'QUEUE_AUTHORITY_REJECTED',
      reason: 'The run of this queued launch has ended.',
    });
  }

  async function abandon(
    id: string,
    { attempts }: SchedulerWorkspace,
    { code, reason }: { code: string; reason: string },
  ): Promise<void> {
    const now = deps.now();
    await queue.end(id, { code, reason, at: now.toISOString() });
    const record = await attempts.get(id);
    const isOver = record === undefined || record.completion !== undefined || record.state === 'refused';
    if (isOver) {
      await reservations.release(id, { reason: 'reconciled', evidence: reason, now });
    } else {
      await reservations.releaseForRequeue(id, now);
    }
  }

  /** Entries that were dispatched and not accepted: requeued with a pause, and, after so many times, given up. */
  async function adoptStranded(): Promise<void> {
    const { admission } = await settings.current();
    const now = deps.now();
    const { items, next } = await queue.stranded(now.toISOString(), { limit: batch, cursor: positions.stranded });
    positions.stranded = next;
    for (const { _id: id, retries, workspaceId } of items) {
      const workspace = await workspaceOf(workspaceId);
      if (!workspace) {
        continue;
      }
      if (retries >= admission.queue.maxRetries) {
        const reason = `Its capacity was offered ${retries + 1} times and never accepted.`;
        await abandon(id, workspace, { code: 'QUEUE_RETRY_EXHAUSTED', reason });
        await workspace.signalCapacity(id);
        continue;
      }
      await reservations.releaseForRequeue(id, now);
      const pause = admission.queue.retryBackoffMs * 2 ** retries;
      await queue.requeue(id, new Date(now.getTime() + pause).toISOString(), retries);
      deps.log.warn({ attemptId: id, retries }, 'queued launch requeued after lost handover');
    }
  }

  /** Entries whose end was requested by a process that did not live to bring it about. */
  async function bringAboutEnds(): Promise<void> {
    const before = new Date(deps.now().getTime() - cancelGraceMs).toISOString();
    const { items, next } = await queue.toEnd(before, { limit: batch, cursor: positions.toEnd });
    positions.toEnd = next;
    for (const { _id: id, cancel, workspaceId } of items) {
      const workspace = cancel && (await workspaceOf(workspaceId));
      if (!cancel || !workspace) {
        continue;
      }
      if (await workspace.requestStop(id, cancel.actor)) {
        continue;
      }
      await abandon(id, workspace, { code: 'QUEUE_CANCELLED', reason: cancel.reason });
    }
  }
}

export type SchedulerActivities = ReturnType<typeof createSchedulerActivities>;
