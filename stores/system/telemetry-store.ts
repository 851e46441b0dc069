import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Filter } from 'mongodb';
import type { RunUsage, TelemetryEvent, TelemetryFilter } from '../../contracts/system/telemetry';
import type { Page, PageRequest } from '../../platform/lists/page';
import { createRedactor } from '../../platform/log/redact';
import { redactJson } from '../../platform/log/redact-json';
import { newRecordId, operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { DuplicateKeyError } from '../port/errors';
import { findPage } from '../port/find-page';
import { createTelemetryRanges } from './telemetry-ranges';

type Document = Stored & Omit<TelemetryEvent, 'id'>;

/** An event that is to be recorded; its time is now unless it states another. */
export type NewTelemetryEvent = Omit<TelemetryEvent, 'id' | 'timestamp'> & { timestamp?: string | undefined };

/** How long events are retained, in days. */
export const telemetryRetentionDays = 90;

const bounds = { bytes: 16_384, depth: 4, items: 64 };

/** The same for the same type and key, in every process. */
const idOf = (type: string, dedupeKey: string | undefined): string =>
  dedupeKey === undefined
    ? newRecordId('event', 12)
    : `event_${createHash('sha256').update(`${type}\n${dedupeKey}`).digest('hex').slice(0, 24)}`;

/** Sums of decimal fractions: what is below a billionth is noise. */
const withoutNoise = (sum: number): number => Math.round(sum * 1e9) / 1e9;

const present = ({ _id, ...event }: Document): TelemetryEvent => ({ id: _id, ...event });

/** Whether two events state the same; when they were recorded does not count. */
const isSame = ({ timestamp: _time, ...event }: Document, { timestamp: _other, ...other }: Document): boolean =>
  isDeepStrictEqual(event, other);

/** What runs and tasks report about themselves. */
export async function createTelemetryStore(db: Database, now: () => Date = operationTime) {
  const newest = { timestamp: -1, _id: -1 } as const;
  const events = await db.collection<Document>({
    name: 'telemetry-events',
    indexes: [
      { keys: { type: 1, ...newest } },
      { keys: { type: 1, success: 1, ...newest } },
      { keys: { taskId: 1, ...newest } },
      { keys: { attemptId: 1, ...newest } },
      { keys: { agent: 1, ...newest } },
      { keys: { project: 1, ...newest } },
      { keys: newest },
    ],
    expire: { field: 'timestamp', afterSeconds: telemetryRetentionDays * 86_400 },
  });
  const redact = createRedactor();

  const filterOf = ({ since, until, ...fields }: TelemetryFilter): Filter<Document> => {
    const stated: [string, unknown][] = Object.entries(fields);
    return {
      ...Object.fromEntries(stated.filter(([, value]) => value !== undefined)),
      timestamp: { $gt: since ?? '', ...(until === undefined ? {} : { $lte: until }) },
    };
  };

  /** The same as `record`, whether the event was there under its key before, and whether that one stated something else. */
  async function recordOnce(
    event: NewTelemetryEvent,
    dedupeKey?: string,
  ): Promise<{ event: TelemetryEvent; replayed: boolean; differs: boolean }> {
    const { value } = redactJson({ ...event }, redact, bounds);
    const document: Document = {
      // The caller's fields, redacted.
      ...(value as Omit<NewTelemetryEvent, 'timestamp'>),
      _id: idOf(event.type, dedupeKey),
      timestamp: event.timestamp ?? now().toISOString(),
    };
    try {
      await events.insert(document);
      return { event: present(document), replayed: false, differs: false };
    } catch (error) {
      if (!(error instanceof DuplicateKeyError) || dedupeKey === undefined) {
        throw error;
      }
      const existing = (await events.get(document._id)) ?? document;
      return { event: present(existing), replayed: true, differs: !isSame(existing, document) };
    }
  }

  return {
    ...createTelemetryRanges(events),

    /**
     * Records an event and returns it. With a `dedupeKey`, a repetition returns the existing event: the retry of an activity
     * counts nothing twice. What looks like a secret is not stored.
     */
    record: async (event: NewTelemetryEvent, dedupeKey?: string): Promise<TelemetryEvent> =>
      (await recordOnce(event, dedupeKey)).event,

    recordOnce,

    /** Whether an event was recorded under a key. */
    isRecorded: async (type: TelemetryEvent['type'], dedupeKey: string): Promise<boolean> =>
      (await events.get(idOf(type, dedupeKey))) !== undefined,

    /** The newest first. */
    async list(filter: TelemetryFilter, part: PageRequest): Promise<Page<TelemetryEvent>> {
      return (
        await findPage(events, { filter: filterOf(filter), order: { key: 'timestamp', direction: -1 } }, part)
      ).map(present);
    },

    count: (filter: TelemetryFilter): Promise<number> => events.count(filterOf(filter)),

    /** How many events there are of each type, and when the newest happened. */
    async summary(): Promise<{ byType: Record<string, number>; latest: string | null }> {
      const groups = await events.aggregate([
        { $match: { timestamp: { $gt: '' } } },
        { $group: { _id: '$type', count: { $sum: 1 } } },
      ]);
      const [latest] = await events.find({ timestamp: { $gt: '' } }, { sort: newest, limit: 1 });
      return {
        byType: Object.fromEntries(groups.map(({ _id, count }) => [String(_id), Number(count)])),
        latest: latest?.timestamp ?? null,
      };
    },

    /** What all runs have cost since a moment, in US dollars. */
    async costSince(since: string): Promise<number> {
      const [sums] = await events.aggregate([
        { $match: { type: 'run.tokens', timestamp: { $gte: since } } },
        { $group: { _id: null, cost: { $sum: '$cost' } } },
      ]);
      return withoutNoise(Number(sums?.['cost'] ?? 0));
    },

    /** What an attempt, or several together, have used, over every report of it. */
    async usageOf(attempts: string | string[]): Promise<RunUsage> {
      const attemptId = typeof attempts === 'string' ? attempts : { $in: attempts };
      const [sums] = await events.aggregate([
        { $match: { attemptId, type: 'run.tokens' } },
        {
          $group: {
            _id: null,
            inputTokens: { $sum: '$inputTokens' },
            outputTokens: { $sum: '$outputTokens' },
            cacheTokens: { $sum: '$cacheTokens' },
            cost: { $sum: '$cost' },
          },
        },
      ]);
      const of = (name: string) => Number(sums?.[name] ?? 0);
      return {
        inputTokens: of('inputTokens'),
        outputTokens: of('outputTokens'),
        cacheTokens: of('cacheTokens'),
        cost: withoutNoise(of('cost')),
      };
    },
  };
}

export type TelemetryStore = Awaited<ReturnType<typeof createTelemetryStore>>;
