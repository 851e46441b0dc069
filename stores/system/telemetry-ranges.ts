import { setImmediate } from 'node:timers/promises';
import type { Filter } from 'mongodb';
import type { TelemetryEvent } from '../../contracts/system/telemetry';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Collection, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

type Document = Stored & Omit<TelemetryEvent, 'id'>;

/** Events of one type, from a moment until before another. */
export interface TelemetryRange {
  type: TelemetryEvent['type'];
  /** `null` when the range has no beginning. */
  from: string | null;
  to: string;
  project?: string | undefined;
}

/** Events that are in memory at a time. */
const pageSize = 500;
/** Attempts whose usage is added up at a time: each may have reported tokens many times. */
const attemptsAtATime = 100;

const sort = { timestamp: -1, _id: -1 } as const;
const newestFirst = { key: 'timestamp', direction: -1 } as const;

const filterOf = ({ type, from, to, project }: TelemetryRange): Filter<Document> => ({
  type,
  ...compact({ project }),
  timestamp: { $gte: from ?? '', $lt: to },
});

const present = ({ _id, ...event }: Document): TelemetryEvent => ({ id: _id, ...event });

/** Reads ranges of events that may be too many for the memory. */
export function createTelemetryRanges(events: Collection<Document>) {
  /** In the terms of the index alone: first what is of the same time as the last event, then what is before it. */
  async function pageAfter(range: TelemetryRange, last: Document): Promise<Document[]> {
    const { timestamp, _id } = last;
    const same = { ...filterOf(range), timestamp, _id: { $lt: _id } } as Filter<Document>;
    const page = await events.find(same, { sort: { _id: -1 }, limit: pageSize });
    const before = filterOf({ ...range, to: timestamp });
    return page.length === pageSize
      ? page
      : [...page, ...(await events.find(before, { sort, limit: pageSize - page.length }))];
  }

  return {
    /** Every event of the range, the newest first, in pages; other work has its turn between two of them. */
    async *pages(range: TelemetryRange): AsyncGenerator<TelemetryEvent[]> {
      for (let last: Document | undefined; ;) {
        const page = last
          ? await pageAfter(range, last)
          : await events.find(filterOf(range), { sort, limit: pageSize });
        yield page.map(present);
        last = page.at(-1);
        if (page.length < pageSize) {
          return;
        }
        await setImmediate();
      }
    },

    /** Runs that ended without success, the newest first. */
    async failedRuns(range: Omit<TelemetryRange, 'type'>, part: PageRequest): Promise<Page<TelemetryEvent>> {
      const filter = { ...filterOf({ ...range, type: 'run.completed' }), success: false };
      return (await findPage(events, { filter, order: newestFirst }, part)).map(present);
    },

    /** When the oldest event of a type happened. */
    async oldest(type: TelemetryEvent['type']): Promise<string | undefined> {
      const [first] = await events.find({ type, timestamp: { $gt: '' } }, { sort: { timestamp: 1 }, limit: 1 });
      return first?.timestamp;
    },

    /** The total tokens of each attempt that reported some. */
    async tokensByAttempt(attemptIds: readonly string[]): Promise<Map<string, number>> {
      const totals = new Map<string, number>();
      for (let at = 0; at < attemptIds.length; at += attemptsAtATime) {
        const part = attemptIds.slice(at, at + attemptsAtATime);
        // With the type, the index of types would be searched, for all attempts.
        const reported = await events.find({ attemptId: { $in: part } });
        for (const { type, attemptId = '', totalTokens, inputTokens = 0, outputTokens = 0 } of reported) {
          if (type !== 'run.tokens') {
            continue;
          }
          totals.set(attemptId, (totals.get(attemptId) ?? 0) + (totalTokens ?? inputTokens + outputTokens));
        }
        await setImmediate();
      }
      return totals;
    },
  };
}
