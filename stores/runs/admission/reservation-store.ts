import type { Capacity, ReleaseReason } from '../../../contracts/runs/admission';
import { type CapacityPolicy, hostKey, nothing, resources, type Usage } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { Collection, Database } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { withinWorkspace } from '../../port/within-workspace';
import { createCapacityLedger, entryOf, idOf, type Ledger } from './capacity-ledger';
import { repairLedger } from './ledger-repair';
import { createTidy } from './ledger-settlement';
import { releaseAll } from './release-count';
import type { ReservationRecord } from './reservation-record';
import { createReserve } from './reserve';
import { createUpkeepTurns } from './upkeep-turns';

export interface ReservationFilter {
  workspaceId?: string | undefined;
  taskId?: string | undefined;
  rootTaskId?: string | undefined;
  provider?: string | undefined;
  hostKey?: string | undefined;
  workflowRunId?: string | undefined;
  workflowStepId?: string | undefined;
  rootReservationId?: string | undefined;
  rootObjectiveId?: string | undefined;
  nodeId?: string | undefined;
  parentNodeId?: string | undefined;
  states?: ReservationRecord['state'][] | undefined;
}

/** `workspaceId` last: of indexes that narrow alike the first one is used, and nearly all may be of one workspace. */
const filterable = [
  'taskId',
  'rootTaskId',
  'provider',
  'hostKey',
  'workflowRunId',
  'workflowStepId',
  'rootReservationId',
  'rootObjectiveId',
  'nodeId',
  'parentNodeId',
  'workspaceId',
] as const;

/** How long ended reservations can be read. */
const retentionSeconds = 90 * 86_400;
const newest = { key: 'createdAt', direction: -1 } as const;
const oldestHeartbeat = { key: 'heartbeatAt', direction: 1 } as const;
/** How many documents one sweep reads. */
const batch = 500;

/**
 * Capacity: who holds how much of it, under which lease, and what became of it. The capacity is that of all workspaces together.
 *
 * @param workspaceId whose reservations are read and changed; those of all workspaces when absent, for scheduler and workers
 */
export async function createReservationStore(db: Database, workspaceId?: string) {
  const ledger = await createCapacityLedger(db);
  const turns = await createUpkeepTurns(db);
  const all: Collection<ReservationRecord> = await db.collection({
    name: 'admission-reservations',
    indexes: [
      { keys: { createdAt: -1, _id: -1 } },
      { keys: { state: 1, createdAt: -1, _id: -1 } },
      { keys: { state: 1, leaseExpiresAt: 1 } },
      { keys: { state: 1, hostKey: 1, heartbeatAt: 1 } },
      { keys: { state: 1, heartbeatAt: 1, _id: 1 } },
      { keys: { state: 1, 'counted.generation': 1 } },
      ...filterable.map((path) => ({ keys: { [path]: 1, createdAt: -1, _id: -1 } as const })),
      { keys: { workspaceId: 1, state: 1, createdAt: -1, _id: -1 } },
    ],
    expire: { field: 'endedAt', afterSeconds: retentionSeconds },
  });
  const reservations = workspaceId === undefined ? all : withinWorkspace(all, workspaceId);
  const counting = { ledger, reservations: all };
  const tidy = createTidy(counting);

  /** Releases in the ledger what has ended. */
  async function endCount(ended: ReservationRecord, seen: Ledger): Promise<void> {
    const changed = await releaseAll(counting, { ended, seen });
    if (changed) {
      await tidy(changed);
    }
  }

  const reserve = createReserve({ ...counting, own: reservations, tidy });
  const repair = (now: Date) => repairLedger(counting, now);

  return {
    /**
     * Reserves runs, processes and memory together in every scope of the request, or nothing. Held already, it returns the
     * current reservation; expired before, it is made again if capacity remains.
     *
     * The ledger is changed first and the document written second. A crash in between leaves a count without a document: a
     * repetition continues from it, and without one `repair` clears it.
     */
    reserve: (
      request: AdmissionRequest,
      policies: CapacityPolicy[],
      { now, leaseMs }: { now: Date; leaseMs: number },
    ) =>
      reserve(request, policies, {
        now: now.toISOString(),
        expiresAt: new Date(now.getTime() + leaseMs).toISOString(),
      }),

    get: (id: string) => reservations.get(id),

    /** Records that the run uses what it holds: from here on it is committed. `undefined` when it holds nothing. */
    async commit(id: string, now: Date): Promise<ReservationRecord | undefined> {
      const stored = await reservations.get(id);
      if (stored?.state !== 'active') {
        return undefined;
      }
      return reservations.findOneAndUpdate(
        { _id: id, state: 'active', generation: stored.generation },
        { $set: { committed: stored.requested, updatedAt: now.toISOString() }, $inc: { revision: 1 } },
      );
    },

    /**
     * Releases what the attempt holds, once, with the reason; the first reason wins. What it never requested it cannot release.
     */
    async release(
      id: string,
      { reason, evidence, now }: { reason: ReleaseReason; evidence: string; now: Date },
    ): Promise<void> {
      const releasedAt = now.toISOString();
      const fields = { state: 'released' as const, release: { reason, releasedAt, evidence }, updatedAt: releasedAt };
      for (;;) {
        const seen = await ledger.read();
        const changed = await reservations.findOneAndUpdate(
          { _id: id, state: { $in: ['active', 'expired'] } },
          { $set: { ...fields, endedAt: releasedAt }, $inc: { revision: 1 } },
        );
        // Also when it was released before: that call may have died before it came to the ledger.
        const record = changed ?? (await reservations.get(id));
        if (record?.state === 'released') {
          return endCount(record, seen);
        }
        if (!record) {
          return;
        }
        // It was reserved between the two.
      }
    },

    /** Releases what a launch holds that stays queued: it may reserve again. */
    async releaseForRequeue(id: string, now: Date): Promise<void> {
      const seen = await ledger.read();
      const at = now.toISOString();
      const changed = await reservations.findOneAndUpdate(
        { _id: id, state: 'active' },
        { $set: { state: 'expired', endedAt: at, updatedAt: at }, $inc: { revision: 1 } },
      );
      if (changed) {
        await endCount(changed, seen);
      }
    },

    renew: (id: string, now: Date, leaseMs: number) =>
      reservations.findOneAndUpdate(
        { _id: id, state: 'active' },
        {
          $set: { heartbeatAt: now.toISOString(), leaseExpiresAt: new Date(now.getTime() + leaseMs).toISOString() },
        },
      ),

    /** Records that a host is alive, and with it everything that is reserved on it; `null` for runs without a host. */
    renewHost: (host: string | null, now: Date, leaseMs: number) =>
      reservations.updateMany(
        { state: 'active', hostKey: host === null ? null : hostKey(host) },
        {
          $set: {
            heartbeatAt: now.toISOString(),
            leaseExpiresAt: new Date(now.getTime() + leaseMs).toISOString(),
          },
        },
      ),

    /**
     * The same of runs without a host, for whichever worker comes first: those that none has renewed since then. Returns those that
     * this call renewed.
     */
    async renewUnhosted(now: Date, leaseMs: number, staleBefore: Date): Promise<ReservationRecord[]> {
      const heartbeatAt = now.toISOString();
      const leaseExpiresAt = new Date(now.getTime() + leaseMs).toISOString();
      const stale = { $lt: staleBefore.toISOString() };
      const renewed: ReservationRecord[] = [];
      for (;;) {
        const due = await reservations.find(
          { state: 'active', hostKey: null, heartbeatAt: stale },
          { sort: { heartbeatAt: 1 }, limit: batch },
        );
        const changed = await Promise.all(
          due.map(({ _id }) =>
            reservations.findOneAndUpdate(
              { _id, state: 'active', heartbeatAt: stale },
              { $set: { heartbeatAt, leaseExpiresAt } },
            ),
          ),
        );
        const own = changed.filter((record) => record !== undefined);
        renewed.push(...own);
        if (due.length < batch || own.length === 0) {
          return renewed;
        }
      }
    },

    /** Ends reservations whose lease has run out, and returns them. */
    async expire(now: Date): Promise<ReservationRecord[]> {
      const at = now.toISOString();
      const due = await reservations.find(
        { state: 'active', leaseExpiresAt: { $lt: at } },
        { sort: { leaseExpiresAt: 1 }, limit: batch },
      );
      const ended: ReservationRecord[] = [];
      for (const { _id: id } of due) {
        const seen = await ledger.read();
        // Renewed in between, it is not due any more.
        const expired = await reservations.findOneAndUpdate(
          { _id: id, state: 'active', leaseExpiresAt: { $lt: at } },
          { $set: { state: 'expired', endedAt: at, updatedAt: at }, $inc: { revision: 1 } },
        );
        if (!expired) {
          continue;
        }
        await endCount(expired, seen);
        ended.push(expired);
      }
      return ended;
    },

    /**
     * Clears the remains of crashes in the ledger: counts whose reservation has ended, and, after a minute, counts whose
     * reservation was never written. Returns how many.
     */
    repair,

    /** The same unless any worker did it within this time, in milliseconds. */
    repairInTurn: async (now: Date, withinMs: number): Promise<number> =>
      (await turns.take('repair', now, withinMs)) ? repair(now) : 0,

    /** The newest first. */
    async list({ states, ...filter }: ReservationFilter, part: PageRequest): Promise<Page<ReservationRecord>> {
      const narrowed = Object.fromEntries(
        Object.entries<string | undefined>(filter).filter(([, value]) => value !== undefined),
      );
      if (states === undefined || Object.keys(narrowed).length > 0) {
        return findPage(
          reservations,
          { filter: states ? { ...narrowed, state: { $in: states } } : narrowed, order: newest },
          part,
        );
      }
      // An index has one state after the other: one more than a page of each contains the page of all of them.
      const ofEach = { ...part, limit: part.limit + 1 };
      const pages = await Promise.all(
        [...new Set(states)].map((state) => findPage(reservations, { filter: { state }, order: newest }, ofEach)),
      );
      const positionOf = ({ _id, createdAt }: ReservationRecord) => ({ key: createdAt, id: _id });
      const records = pages.flatMap(({ items }) => items);
      return slicePage(records, { limit: part.limit }, { positionOf, direction: -1 });
    },

    /** Those of these that there are. */
    among: (ids: string[]): Promise<ReservationRecord[]> => reservations.find({ _id: { $in: ids } }),

    /** What a whole tree has used, and what it holds. */
    async sumsOfTree(rootObjectiveId: string): Promise<{ committed: Capacity; reserved: Capacity }> {
      const sumsOf = (field: 'committed' | 'requested') =>
        resources.map((resource) => [`${field}_${resource}`, { $sum: `$${field}.${resource}` }] as const);
      const groups = await reservations.aggregate([
        { $match: { rootObjectiveId } },
        { $group: { _id: '$state', ...Object.fromEntries([...sumsOf('committed'), ...sumsOf('requested')]) } },
      ]);
      const sums = { committed: { ...nothing }, reserved: { ...nothing } };
      for (const group of groups) {
        for (const resource of resources) {
          sums.committed[resource] += Number(group[`committed_${resource}`]);
          if (group._id === 'active') {
            sums.reserved[resource] += Number(group[`requested_${resource}`]);
          }
        }
      }
      return sums;
    },

    /** What is reserved on a host. */
    activeOn: (host: string): Promise<ReservationRecord[]> =>
      reservations.find({ state: 'active', hostKey: hostKey(host) }),

    /** What is reserved, wherever, and was not renewed since then: it has no live host, or its host was away. */
    async *silentSince(before: Date, limit: number): AsyncGenerator<ReservationRecord> {
      const filter = { state: 'active' as const, heartbeatAt: { $lt: before.toISOString() } };
      for (let cursor: PageRequest['cursor']; ;) {
        const page = await findPage(reservations, { filter, order: oldestHeartbeat }, { limit, cursor });
        yield* page.items;
        cursor = page.next;
        if (!cursor) {
          return;
        }
      }
    },

    /** How many run slots the runs of a host hold. */
    async runsOn(host: string): Promise<number> {
      const [sum] = await reservations.aggregate([
        { $match: { state: 'active', hostKey: hostKey(host) } },
        { $group: { _id: null, runs: { $sum: '$requested.runs' } } },
      ]);
      return Number(sum?.runs ?? 0);
    },

    /** Whose runs the ledger counts. */
    async holders(): Promise<string[]> {
      const counted = await all.find({
        state: { $in: ['active', 'released', 'expired'] },
        'counted.generation': { $gte: 1 },
      });
      const { holders, counting: open, released } = await ledger.read();
      const held = counted.flatMap(({ _id, counted: count }) =>
        count && !released[entryOf(_id, count.generation)] ? [_id] : [],
      );
      return [...new Set([...Object.keys(holders), ...held, ...Object.keys(open).map((entry) => idOf(entry).id)])];
    },

    /** How many runs of all workspaces hold capacity. */
    activeRuns: (): Promise<number> => all.count({ state: 'active' }),

    usage: async (): Promise<Usage> => (await ledger.read()).usage,
  };
}

export type ReservationStore = Awaited<ReturnType<typeof createReservationStore>>;
