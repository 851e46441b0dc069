import type { Capacity, ReleaseReason } from '../../../contracts/runs/admission';
import {
  type CapacityPolicy,
  evaluated,
  hostKey,
  nothing,
  resources,
  scopesOf,
  type Usage,
} from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { Collection, Database } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { insertOnce } from '../../port/insert';
import { withinWorkspace } from '../../port/within-workspace';
import { createCapacityLedger } from './capacity-ledger';
import { repairLedger } from './ledger-repair';
import { holderOf, type ReservationRecord } from './reservation-record';
import { createUpkeepTurns } from './upkeep-turns';

export type ReserveOutcome =
  | { outcome: 'held'; reservation: ReservationRecord }
  | { outcome: 'blocked'; policies: CapacityPolicy[]; usage: Usage }
  /** It has been released: the requesting attempt is over. */
  | { outcome: 'over' };

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
/** How often a reservation is tried while others change the same. */
const tries = 20;
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
      ...filterable.map((path) => ({ keys: { [path]: 1, createdAt: -1, _id: -1 } as const })),
      { keys: { workspaceId: 1, state: 1, createdAt: -1, _id: -1 } },
    ],
    expire: { field: 'endedAt', afterSeconds: retentionSeconds },
  });
  const reservations = workspaceId === undefined ? all : withinWorkspace(all, workspaceId);

  /** Writes the reservation that the ledger counts, unless another writer was first. */
  async function record(
    request: AdmissionRequest,
    policies: CapacityPolicy[],
    { generation, lease }: { generation: number; lease: { now: string; expiresAt: string } },
  ): Promise<ReservationRecord | undefined> {
    const fields = {
      ...request,
      state: 'active' as const,
      generation,
      hostKey: request.hostId === null ? null : hostKey(request.hostId),
      keys: scopesOf(request).map(({ key }) => key),
      evaluated: policies.map(evaluated),
      heartbeatAt: lease.now,
      leaseExpiresAt: lease.expiresAt,
      updatedAt: lease.now,
    };
    if (generation > 1) {
      return reservations.findOneAndUpdate(
        { _id: request.attemptId, state: 'expired', generation: generation - 1 },
        { $set: fields, $unset: { endedAt: '' }, $inc: { revision: 1 } },
      );
    }
    const document: ReservationRecord = {
      ...fields,
      _id: request.attemptId,
      schemaVersion: 'admission-reservation/v1',
      revision: 1,
      committed: nothing,
      createdAt: lease.now,
    };
    return (await insertOnce(reservations, document)) ? document : undefined;
  }

  const repair = (now: Date) => repairLedger({ ledger, reservations }, now);

  return {
    /**
     * Reserves runs, processes and memory together in every scope of the request, or nothing. Held already, it returns the
     * current reservation; expired before, it is made again if capacity remains.
     *
     * The ledger is changed first and the document written second. A crash in between leaves a holder without a document: a
     * repetition continues from it, and without one `repair` clears it.
     */
    async reserve(
      request: AdmissionRequest,
      policies: CapacityPolicy[],
      { now, leaseMs }: { now: Date; leaseMs: number },
    ): Promise<ReserveOutcome> {
      const lease = { now: now.toISOString(), expiresAt: new Date(now.getTime() + leaseMs).toISOString() };
      for (let attempt = 0; attempt < tries; attempt += 1) {
        const existing = await reservations.get(request.attemptId);
        if (existing?.state === 'active') {
          return { outcome: 'held', reservation: existing };
        }
        if (existing?.state === 'released') {
          return { outcome: 'over' };
        }
        const generation = (existing?.generation ?? 0) + 1;
        const held = await ledger.hold(request, policies, { generation, at: lease.now });
        if (!held.held && held.blocked.length > 0) {
          return { outcome: 'blocked', policies: held.blocked, usage: held.usage };
        }
        if (!held.held) {
          continue;
        }
        // Another writer may have written the document: one of both continues with it, or it is over and this count has to go.
        const current =
          (await record(request, policies, { generation, lease })) ?? (await reservations.get(request.attemptId));
        if (current?.state === 'active' && current.generation === generation) {
          return { outcome: 'held', reservation: current };
        }
        const keys = scopesOf(request).map(({ key }) => key);
        await ledger.release(request.attemptId, { generation, requested: request.requested, keys });
      }
      throw new Error(`The reservation of ${request.attemptId} kept changing. Try again.`);
    },

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
      const changed = await reservations.findOneAndUpdate(
        { _id: id, state: { $in: ['active', 'expired'] } },
        { $set: { ...fields, endedAt: releasedAt }, $inc: { revision: 1 } },
      );
      // Also when it was released before: that call may have died before it came to the ledger.
      const record = changed ?? (await reservations.get(id));
      if (record) {
        await ledger.release(id, holderOf(record));
      }
    },

    /** Releases what a launch holds that stays queued: it may reserve again. */
    async releaseForRequeue(id: string, now: Date): Promise<void> {
      const at = now.toISOString();
      const changed = await reservations.findOneAndUpdate(
        { _id: id, state: 'active' },
        { $set: { state: 'expired', endedAt: at, updatedAt: at }, $inc: { revision: 1 } },
      );
      if (changed) {
        await ledger.release(id, holderOf(changed));
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
        // Renewed in between, it is not due any more.
        const expired = await reservations.findOneAndUpdate(
          { _id: id, state: 'active', leaseExpiresAt: { $lt: at } },
          { $set: { state: 'expired', endedAt: at, updatedAt: at }, $inc: { revision: 1 } },
        );
        if (!expired) {
          continue;
        }
        await ledger.release(id, holderOf(expired));
        ended.push(expired);
      }
      return ended;
    },

    /**
     * Clears the remains of crashes in the ledger: holders whose reservation has ended, and, after a minute, holders whose
     * reservation was never written. Returns how many.
     */
    repair,

    /** The same unless any worker did it within this time, in milliseconds: it reads everything that is reserved. */
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

    holders: async (): Promise<string[]> => Object.keys((await ledger.read()).holders),

    usage: async (): Promise<Usage> => (await ledger.read()).usage,
  };
}

export type ReservationStore = Awaited<ReturnType<typeof createReservationStore>>;
