import type { EvaluatedPolicy, LaunchSource, QueueState, SelectionEvidence } from '../../../contracts/runs/admission';
import { laneOf } from '../../../domain/admission/lane';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { compact } from '../../../platform/json/compact';
import type { Page, PageRequest } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { Collection, Database } from '../../port/collection';
import { DuplicateKeyError } from '../../port/errors';
import { findPage } from '../../port/find-page';
import { recentCount } from '../../port/recent-count';
import { withinWorkspace } from '../../port/within-workspace';
import { backfillLanes, laneIndexes, queueLanes, waitingStates } from './queue-lanes';

/** A launch that waits for capacity; survives everything until it is dispatched or ended. Its id is the attempt's. */
export interface QueueRecord extends AdmissionRequest {
  _id: string;
  schemaVersion: 'admission-queue-entry/v1';
  state: QueueState;
  revision: number;
  /** Entries of a lane count alike against every ceiling they share: `laneOf`. */
  line: string;
  enqueuedAt: string;
  /** Not scheduled before this time, after a dispatch that failed. */
  notBefore?: string;
  retries: number;
  /** The key of what is in the way first. New launches that need it wait behind this one. */
  limitingKey: string | null;
  limitingPolicies: EvaluatedPolicy[];
  selection?: SelectionEvidence;
  leaseExpiresAt?: string;
  /** Its cancellation was requested; nothing dispatches it from then on. */
  cancel?: { keyHash: string; reason: string; actor: string; at: string };
  /** While a requested cancellation is not complete. */
  cancelRequestedAt?: string;
  outcome?: { code: string; reason: string; at: string };
  endedAt?: string;
}

type NewEntry = Omit<QueueRecord, '_id' | 'schemaVersion' | 'state' | 'revision' | 'line' | 'retries'>;

export interface QueueFilter {
  workspaceId?: string | undefined;
  rootObjectiveId?: string | undefined;
  nodeId?: string | undefined;
  sources?: LaunchSource[] | undefined;
  states?: QueueState[] | undefined;
  priority?: number | undefined;
  enqueuedBefore?: string | undefined;
  enqueuedAfter?: string | undefined;
}

/** Taken by the scheduler or not: still in the queue. */
const openStates: QueueState[] = ['queued', 'requeued', 'leased'];
const retentionSeconds = 30 * 86_400;

/**
 * The durable queue of launches, one for all workspaces: they compete for the same capacity. Every change is a compare-and-set on
 * the state it is made from.
 *
 * @param workspaceId whose entries are read and changed; those of all workspaces when absent, for the scheduler
 */
export async function createQueueStore(db: Database, workspaceId?: string) {
  const all: Collection<QueueRecord> = await db.collection({
    name: 'admission-entries',
    indexes: [
      ...laneIndexes,
      { keys: { state: 1, priority: -1, enqueuedAt: 1 } },
      { keys: { state: 1, enqueuedAt: 1, _id: 1 } },
      { keys: { state: 1, leaseExpiresAt: 1, _id: 1 } },
      { keys: { state: 1, limitingKey: 1 } },
      { keys: { rootObjectiveId: 1, state: 1, enqueuedAt: 1, _id: 1 } },
      { keys: { cancelRequestedAt: 1, _id: 1 } },
      // Last: of indexes that narrow alike the first one is used, and nearly all entries may be of one workspace.
      { keys: { workspaceId: 1, state: 1, enqueuedAt: 1, _id: 1 } },
    ],
    expire: { field: 'endedAt', afterSeconds: retentionSeconds },
  });
  await backfillLanes(all);
  const entries = workspaceId === undefined ? all : withinWorkspace(all, workspaceId);
  const open = { state: { $in: openStates } };
  const everywhere = recentCount(() => all.count(open));
  const inWorkspace = recentCount((id) => entries.count({ workspaceId: id, ...open }));

  return {
    ...queueLanes(all),

    /** Puts the launch into the queue; there already, it stays where it is. */
    async enqueue(entry: NewEntry): Promise<void> {
      try {
        await entries.insert({
          ...entry,
          _id: entry.attemptId,
          schemaVersion: 'admission-queue-entry/v1',
          state: 'queued',
          revision: 1,
          line: laneOf(entry),
          retries: 0,
        });
      } catch (error) {
        if (!(error instanceof DuplicateKeyError)) {
          throw error;
        }
      }
    },

    get: (id: string) => entries.get(id),

    /** Whether nothing waits in any workspace. */
    async isEmpty(): Promise<boolean> {
      const some = await Promise.all(openStates.map((state) => all.find({ state }, { limit: 1 })));
      return some.every((list) => list.length === 0);
    },

    /** The entry that has waited longest; `undefined` when none waits. */
    async oldestWaiting(): Promise<QueueRecord | undefined> {
      const oldest = await Promise.all(
        waitingStates.map((state) => entries.find({ state }, { sort: { enqueuedAt: 1 }, limit: 1 })),
      );
      return oldest.flat().sort((one, other) => one.enqueuedAt.localeCompare(other.enqueuedAt))[0];
    },

    /** Of all workspaces. */
    depth: () => all.count(open),
    /** The same to be compared with a limit: exact near it, or a moment old. */
    depthBelow: (limit: number) => everywhere('', limit),
    depthOfBelow: inWorkspace,
    depthOfTree: (rootObjectiveId: string) => entries.count({ rootObjectiveId, ...open }),

    /** One of these scopes that an entry, of whatever workspace, waits for: a launch that needs the same then waits behind it. */
    async waitedFor(keys: string[]): Promise<string | undefined> {
      const entriesByState = await Promise.all(
        waitingStates.map((state) => all.find({ state, limitingKey: { $in: keys } }, { limit: 1 })),
      );
      return entriesByState.flat()[0]?.limitingKey ?? undefined;
    },

    /** Takes an entry for dispatch; `undefined` when it is no longer to be had. */
    lease: (id: string, selection: SelectionEvidence, leaseExpiresAt: string) =>
      entries.findOneAndUpdate(
        { _id: id, state: { $in: waitingStates }, cancel: { $exists: false } },
        { $set: { state: 'leased', selection, leaseExpiresAt }, $inc: { revision: 1 } },
      ),

    /** Remembers what is in the way of a waiting entry. */
    limit: (id: string, limitingKey: string | null, limitingPolicies: EvaluatedPolicy[]) =>
      entries.findOneAndUpdate(
        { _id: id, state: { $in: waitingStates } },
        { $set: { limitingKey, limitingPolicies }, $inc: { revision: 1 } },
      ),

    /** Requeues a leased entry, to be scheduled again after `notBefore`. */
    requeue: (id: string, notBefore: string, retries: number) =>
      entries.findOneAndUpdate(
        { _id: id, state: 'leased', retries },
        { $set: { state: 'requeued', notBefore }, $inc: { revision: 1, retries: 1 }, $unset: { leaseExpiresAt: '' } },
      ),

    /** Restores a leased entry to its position: nothing was wrong with it. */
    putBack: (id: string) =>
      entries.findOneAndUpdate(
        { _id: id, state: 'leased' },
        { $set: { state: 'queued' }, $inc: { revision: 1 }, $unset: { leaseExpiresAt: '' } },
      ),

    /** The point from which the run owns itself; `undefined` unless the entry is leased and not cancelled. */
    dispatched: (id: string, endedAt: string) =>
      entries.findOneAndUpdate(
        { _id: id, state: 'leased', cancel: { $exists: false } },
        { $set: { state: 'dispatched', endedAt }, $inc: { revision: 1 }, $unset: { leaseExpiresAt: '' } },
      ),

    /** Ends an entry that was not dispatched; the first outcome wins. */
    end: (id: string, outcome: { code: string; reason: string; at: string }) =>
      entries.findOneAndUpdate(
        { _id: id, ...open },
        {
          $set: { state: 'terminal', outcome, endedAt: outcome.at },
          $inc: { revision: 1 },
          $unset: { leaseExpiresAt: '', cancelRequestedAt: '' },
        },
      ),

    /** Cancels an entry that was not dispatched; `undefined` when it was, or was cancelled before. */
    cancel: (id: string, cancel: NonNullable<QueueRecord['cancel']>) =>
      entries.findOneAndUpdate(
        { _id: id, ...open, cancel: { $exists: false } },
        { $set: { cancel, cancelRequestedAt: cancel.at }, $inc: { revision: 1 } },
      ),

    /** A page of the leased entries whose dispatch made no progress in time. */
    stranded: (now: string, part: PageRequest) =>
      findPage(
        entries,
        { filter: { state: 'leased', leaseExpiresAt: { $lt: now } }, order: { key: 'leaseExpiresAt', direction: 1 } },
        part,
      ),

    /** A page of the entries whose cancellation was requested until then and is not complete. */
    toEnd: (until: string, part: PageRequest) =>
      findPage(
        entries,
        { filter: { cancelRequestedAt: { $gt: '', $lte: until } }, order: { key: 'cancelRequestedAt', direction: 1 } },
        part,
      ),

    extendLease: (id: string, from: string, to: string) =>
      entries.findOneAndUpdate({ _id: id, state: 'leased', leaseExpiresAt: from }, { $set: { leaseExpiresAt: to } }),

    /** Entries in the order in which they were enqueued, by what an index can narrow; open ones unless states are named. */
    async list(filter: QueueFilter, part: PageRequest): Promise<Page<QueueRecord>> {
      const { rootObjectiveId, nodeId, sources, states = openStates, priority } = filter;
      const enqueuedAt = {
        ...(filter.enqueuedBefore === undefined ? {} : { $lte: filter.enqueuedBefore }),
        ...(filter.enqueuedAfter === undefined ? {} : { $gte: filter.enqueuedAfter }),
      };
      const narrowed = {
        ...compact({ workspaceId: filter.workspaceId, rootObjectiveId, nodeId }),
        ...(sources === undefined ? {} : { source: { $in: sources } }),
        ...compact({ priority }),
        ...(Object.keys(enqueuedAt).length === 0 ? {} : { enqueuedAt }),
      };
      // An index has one state after the other: one more than a page of each contains the page of all of them.
      const ofEach = { ...part, limit: part.limit + 1 };
      const order = { key: 'enqueuedAt', direction: 1 } as const;
      const pages = await Promise.all(
        [...new Set(states)].map((state) => findPage(entries, { filter: { ...narrowed, state }, order }, ofEach)),
      );
      const records = pages.flatMap(({ items }) => items);
      return slicePage(records, { limit: part.limit }, { positionOf: ({ enqueuedAt: key, _id: id }) => ({ key, id }) });
    },

    /** Which of these are still in the queue. */
    async openAmong(ids: string[]): Promise<Set<string>> {
      const records = await entries.find({ _id: { $in: ids }, ...open });
      return new Set(records.map(({ _id }) => _id));
    },

    /** How many wait in each workspace. */
    async depths(): Promise<{ workspaceId: string; current: number }[]> {
      const groups = await entries.aggregate([
        { $match: open },
        { $group: { _id: '$workspaceId', current: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ]);
      return groups.map(({ _id, current }) => ({ workspaceId: String(_id), current: Number(current) }));
    },
  };
}

export type QueueStore = Awaited<ReturnType<typeof createQueueStore>>;
