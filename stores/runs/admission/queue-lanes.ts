import type { EvaluatedPolicy } from '../../../contracts/runs/admission';
import { laneOf } from '../../../domain/admission/lane';
import type { Collection, IndexSpec } from '../../port/collection';
import type { QueueRecord } from './queue-store';

/** The states in which an entry may be taken for dispatch. */
export const waitingStates = ['queued', 'requeued'] as const satisfies QueueRecord['state'][];
type WaitingState = (typeof waitingStates)[number];

/** Entries of one lane, in the order in which they were enqueued. */
export interface LanePage {
  line: string;
  state: WaitingState;
  entries: QueueRecord[];
  isLast: boolean;
}

export const laneIndexes: IndexSpec[] = [
  { keys: { state: 1, line: 1, enqueuedAt: 1, _id: 1 } },
  { keys: { state: 1, line: 1, limitingKey: 1 } },
];

const inOrder = { line: 1, enqueuedAt: 1, _id: 1 } as const;
/** How many entries are read at once while the lanes are iterated. */
const stride = 8;
const batch = 500;

/** The queue as its scheduler sees it: lanes of entries of which only the first matter, until those have left. */
export const queueLanes = (entries: Collection<QueueRecord>) => ({
  /** The first entries of every lane, by one short read for each, however long the lanes are. */
  async lanes(): Promise<LanePage[]> {
    const pages = await Promise.all(waitingStates.map((state) => lanesIn(entries, state)));
    return pages.flat();
  },

  /** The entries of a lane after the first `skip`. */
  async more({ state, line }: Pick<LanePage, 'state' | 'line'>, skip: number, limit: number): Promise<LanePage> {
    const records = await entries.find({ state, line }, { sort: inOrder, skip, limit });
    return { state, line, entries: records, isLast: records.length < limit };
  },

  /**
   * Records for all entries of a lane what limits them. Those that wait for their tree wait for no ceiling, and do not change.
   */
  async limitLane(
    { state, line }: Pick<LanePage, 'state' | 'line'>,
    limitingKey: string,
    limitingPolicies: EvaluatedPolicy[],
  ): Promise<void> {
    for (const others of [{ $lt: limitingKey }, { $gt: limitingKey }]) {
      const change = { $set: { limitingKey, limitingPolicies }, $inc: { revision: 1 } };
      await entries.updateMany({ state, line, limitingKey: others }, change);
    }
  },
});

async function lanesIn(entries: Collection<QueueRecord>, state: WaitingState): Promise<LanePage[]> {
  const pages: LanePage[] = [];
  for (let after = ''; ;) {
    const records = await entries.find({ state, line: { $gt: after } }, { sort: inOrder, limit: stride });
    const isEnd = records.length < stride;
    for (const entry of records) {
      const page = pages.at(-1);
      if (page?.line === entry.line) {
        page.entries.push(entry);
      } else {
        pages.push({ state, line: entry.line, entries: [entry], isLast: true });
      }
    }
    const last = pages.at(-1);
    if (isEnd || !last) {
      return pages;
    }
    last.isLast = false;
    after = last.line;
  }
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
