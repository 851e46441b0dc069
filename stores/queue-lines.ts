import type { EvaluatedPolicy } from '../contracts/admission';
import { lineOf } from '../runs/admission/line';
import type { Collection, IndexSpec } from './collection';
import type { QueueRecord } from './queue-store';

/** The states in which an entry may be taken for dispatch. */
export const waitingStates = ['queued', 'requeued'] as const satisfies QueueRecord['state'][];
type WaitingState = (typeof waitingStates)[number];

/** Entries that stand in one line, in the order in which they were enqueued. */
export interface LinePage {
  line: string;
  state: WaitingState;
  entries: QueueRecord[];
  isLast: boolean;
}

export const lineIndexes: IndexSpec[] = [
  { keys: { state: 1, line: 1, enqueuedAt: 1, _id: 1 } },
  { keys: { state: 1, line: 1, limitingKey: 1 } },
];

const inOrder = { line: 1, enqueuedAt: 1, _id: 1 } as const;
/** How many entries are read at once while the lines are gone through. */
const stride = 8;
const batch = 500;

/** The queue as its scheduler sees it: lines of entries of which only the first matter, until those have gone. */
export const queueLines = (entries: Collection<QueueRecord>) => ({
  /** The first entries of every line, by one short read for each, however long the lines are. */
  async lines(): Promise<LinePage[]> {
    const pages = await Promise.all(waitingStates.map((state) => linesIn(entries, state)));
    return pages.flat();
  },

  /** What comes in a line after the first `skip`. */
  async more({ state, line }: Pick<LinePage, 'state' | 'line'>, skip: number, limit: number): Promise<LinePage> {
    const found = await entries.find({ state, line }, { sort: inOrder, skip, limit });
    return { state, line, entries: found, isLast: found.length < limit };
  },

  /**
   * Remembers of all in a line what is in their way. What waits for its tree waits for no ceiling, and stays as it is.
   */
  async limitLine(
    { state, line }: Pick<LinePage, 'state' | 'line'>,
    limitingKey: string,
    limitingPolicies: EvaluatedPolicy[],
  ): Promise<void> {
    for (const others of [{ $lt: limitingKey }, { $gt: limitingKey }]) {
      const change = { $set: { limitingKey, limitingPolicies }, $inc: { revision: 1 } };
      await entries.updateMany({ state, line, limitingKey: others }, change);
    }
  },
});

async function linesIn(entries: Collection<QueueRecord>, state: WaitingState): Promise<LinePage[]> {
  const pages: LinePage[] = [];
  for (let after = ''; ;) {
    const found = await entries.find({ state, line: { $gt: after } }, { sort: inOrder, limit: stride });
    const isEnd = found.length < stride;
    for (const entry of found) {
      const page = pages.at(-1);
      if (page?.line === entry.line) page.entries.push(entry);
      else pages.push({ state, line: entry.line, entries: [entry], isLast: true });
    }
    const last = pages.at(-1);
    if (isEnd || !last) return pages;
    last.isLast = false;
    after = last.line;
  }
}

/** Gives entries from before there were lines their place in one. */
export async function lineUp(entries: Collection<QueueRecord>): Promise<void> {
  for (const state of waitingStates) {
    for (;;) {
      const found = await entries.find({ state, line: { $exists: false } }, { limit: batch });
      for (const entry of found) {
        await entries.findOneAndUpdate({ _id: entry._id, line: { $exists: false } }, { $set: { line: lineOf(entry) } });
      }
      if (found.length < batch) break;
    }
  }
}
