import type { EvaluatedPolicy } from '../../../contracts/runs/admission';
import { laneOf } from '../../../domain/admission/lane';
import type { Collection, IndexSpec } from '../../port/collection';
import type { QueueRecord } from './queue-store';
import { groupsIn, groupsOf, inOrder } from './skip-scan';

/** The states in which an entry may be taken for dispatch. */
export const waitingStates = ['queued', 'requeued'] as const satisfies QueueRecord['state'][];
type WaitingState = (typeof waitingStates)[number];

/** Entries of one lane, in the order in which they were enqueued. */
export interface LanePage {
  line: string;
  state: WaitingState;
  hostId: string | null;
  entries: QueueRecord[];
  isLast: boolean;
}

/** Entries of one workspace and priority, of whatever lanes, in the order in which they were enqueued. */
export interface StreamPage {
  state: WaitingState;
  workspaceId: string;
  priority: number;
  entries: QueueRecord[];
  isLast: boolean;
}

export const laneIndexes: IndexSpec[] = [
  { keys: { state: 1, hostId: 1, line: 1, enqueuedAt: 1, _id: 1 } },
  { keys: { state: 1, workspaceId: 1, priority: 1, enqueuedAt: 1, _id: 1 } },
  { keys: { state: 1, line: 1, limitingKey: 1 } },
  { keys: { state: 1, hostId: 1, limitingKey: 1 } },
];

const batch = 500;

/**
 * The queue as its scheduler sees it: as streams, which have the entries in the order in which they are checked, and as lanes,
 * of which only the first entry matters until it has left.
 */
export const queueLanes = (entries: Collection<QueueRecord>) => ({
  /** The first entries of every workspace and priority, by one short read for each, however many entries or hosts there are. */
  async streams(): Promise<StreamPage[]> {
    const pages = await Promise.all(
      waitingStates.map(async (state) => {
        const groups = await groupsIn(entries, { state }, ['workspaceId', 'priority']);
        return groups.map(({ keys: [workspaceId, priority], ...page }) => ({ state, workspaceId, priority, ...page }));
      }),
    );
    return pages.flat();
  },

  /** The entries of a stream after the first `skip`. */
  async moreOfStream(stream: Omit<StreamPage, 'entries' | 'isLast'>, skip: number, limit: number): Promise<StreamPage> {
    const { state, workspaceId, priority } = stream;
    const records = await entries.find({ state, workspaceId, priority }, { sort: inOrder, skip, limit });
    return { state, workspaceId, priority, entries: records, isLast: records.length < limit };
  },

  /**
   * The first entries of every lane of these hosts. Reads in proportion to the hosts or to those of them that launches wait for,
   * whichever are fewer.
   */
  async lanesOn(hostIds: readonly (string | null)[]): Promise<LanePage[]> {
    const pages = await Promise.all(waitingStates.map((state) => lanesOfHosts(entries, state, hostIds)));
    return pages.flat();
  },

  /** The entries of a lane after the first `skip`. */
  async more(lane: Pick<LanePage, 'state' | 'line' | 'hostId'>, skip: number, limit: number): Promise<LanePage> {
    const { state, line, hostId } = lane;
    const records = await entries.find({ state, hostId, line }, { sort: inOrder, skip, limit });
    return { state, line, hostId, entries: records, isLast: records.length < limit };
  },

  /** Up to `limit` hosts that launches wait for, by id, after one of them. */
  async hostsAfter(after: string, limit: number): Promise<string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit;) {
      const firsts = await Promise.all(waitingStates.map((state) => firstFrom(entries, state, { $gt: last })));
      const [next] = firsts.flatMap((hostId) => hostId ?? []).sort();
      if (next === undefined) {
        break;
      }
      found.push(next);
      last = next;
    }
    return found;
  },

  /**
   * Records for all entries of a lane what limits them. Those that wait for their tree wait for no ceiling, and do not change.
   */
  async limitLane(
    { state, line }: Pick<QueueRecord, 'state' | 'line'>,
    limitingKey: string,
    limitingPolicies: EvaluatedPolicy[],
  ): Promise<void> {
    for (const others of [{ $lt: limitingKey }, { $gt: limitingKey }]) {
      const change = { $set: { limitingKey, limitingPolicies }, $inc: { revision: 1 } };
      await entries.updateMany({ state, line, limitingKey: others }, change);
    }
  },

  /**
   * Records for the entries of a host that they wait for it: for those that wait for one other key, or for all that wait for
   * any ceiling.
   */
  async limitHost(
    { hostId, instead }: { hostId: string; instead?: string | undefined },
    limitingKey: string,
    limitingPolicies: EvaluatedPolicy[],
  ): Promise<void> {
    const change = { $set: { limitingKey, limitingPolicies }, $inc: { revision: 1 } };
    for (const state of waitingStates) {
      for (const others of instead === undefined ? [{ $lt: limitingKey }, { $gt: limitingKey }] : [instead]) {
        await entries.updateMany({ state, hostId, limitingKey: others }, change);
      }
    }
  },
});

/** The first host from there on that a launch waits for. */
async function firstFrom(
  entries: Collection<QueueRecord>,
  state: WaitingState,
  hostId: { $gt: string } | { $gte: string },
): Promise<string | null | undefined> {
  const [first] = await entries.find({ state, hostId }, { sort: { hostId: 1 }, limit: 1 });
  return first?.hostId;
}

async function lanesOfHosts(
  entries: Collection<QueueRecord>,
  state: WaitingState,
  hostIds: readonly (string | null)[],
): Promise<LanePage[]> {
  const pages = hostIds.includes(null) ? await lanesOf(entries, state, null) : [];
  const hosts = hostIds.filter((hostId) => hostId !== null).sort();
  for (let at = 0; at < hosts.length; at += 1) {
    const wanted = hosts[at] ?? '';
    const next = await firstFrom(entries, state, { $gte: wanted });
    if (typeof next !== 'string') {
      break;
    }
    while (at < hosts.length - 1 && (hosts[at] ?? '') < next) {
      at += 1;
    }
    if (hosts[at] === next) {
      pages.push(...(await lanesOf(entries, state, next)));
    }
  }
  return pages;
}

async function lanesOf(
  entries: Collection<QueueRecord>,
  state: WaitingState,
  hostId: string | null,
): Promise<LanePage[]> {
  const groups = await groupsOf(entries, { state, hostId }, 'line');
  return groups.map(({ key: line, ...page }) => ({ state, hostId, line, ...page }));
}

/** Assigns a lane to entries from before lanes existed. */
export async function backfillLanes(entries: Collection<QueueRecord>): Promise<void> {
  for (const state of waitingStates) {
    for (;;) {
      const records = await entries.find({ state, line: { $exists: false } }, { limit: batch });
      for (const entry of records) {
        await entries.findOneAndUpdate({ _id: entry._id, line: { $exists: false } }, { $set: { line: laneOf(entry) } });
      }
      if (records.length < batch) {
        break;
      }
    }
  }
}
