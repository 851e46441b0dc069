import { type Collection as MongoCollection, MongoBulkWriteError } from 'mongodb';
import { compact } from '../../platform/json/compact';
import type { Log } from '../../platform/log/log';
import type { EntryLog, LogEntry, NewEntry, Notice } from '../port/collection';
import { SealedScopeError, StoreUnavailableError } from '../port/errors';
import { assertId, assertStorable } from '../rules/document';
import type { WakeUp } from '../watch/wake-up';
import { watchEntries } from '../watch/watch-entries';
import { isDuplicateKey, translated, translateError } from './errors';

export interface EntryDocument {
  /** Scope and number, so that the first writer to insert a number owns it. */
  _id: string;
  scope: string;
  sequence: number;
  dedupeKey?: string;
  /** Scope and `dedupeKey` in one field: a sparse index on both would hold every entry, as each has a scope. */
  dedupe?: string;
  entry: Record<string, unknown>;
}

export interface FloorDocument {
  /** The scope. */
  _id: string;
  /** Expiry has removed entries up to here; no number up to here is assigned again. */
  sequence: number;
}

interface Pending {
  dedupeKey?: string;
  entry: Record<string, unknown>;
  sequence?: number;
}

interface Append {
  entries: Pending[];
  resolve: (sequences: number[]) => void;
  reject: (error: unknown) => void;
}

/** Other writers may take numbers in between; each round one of them succeeds, so this many rounds mean a defect. */
const maxRounds = 1_000;
const maxInInsert = 500;

const idOf = (scope: string, sequence: number) => `${scope}/${String(sequence).padStart(12, '0')}`;
const dedupeOf = (scope: string, key: string) => JSON.stringify([scope, key]);

interface MongoLogDeps {
  entries: MongoCollection<EntryDocument>;
  floors: MongoCollection<FloorDocument>;
  wakeUp: WakeUp;
  log: Log;
  sealKey?: string;
}

export class MongoEntryLog<T extends LogEntry> implements EntryLog<T> {
  private readonly queues = new Map<string, Append[]>();

  private readonly entries: MongoCollection<EntryDocument>;
  private readonly floors: MongoCollection<FloorDocument>;
  private readonly wakeUp: WakeUp;
  private readonly log: Log;
  private readonly sealKey?: string;

  constructor(
    private readonly name: string,
    { entries, floors, wakeUp, log, sealKey }: MongoLogDeps,
  ) {
    this.entries = entries;
    this.floors = floors;
    this.wakeUp = wakeUp;
    this.log = log;
    this.sealKey = sealKey;
  }

  async append(scope: string, entries: NewEntry<T>[]): Promise<number[]> {
    assertId(this.name, scope);
    if (entries.length === 0) {
      return [];
    }
    const pending = entries.map((entry) => this.toPending(entry));
    return new Promise((resolve, reject) => {
      const append: Append = { entries: pending, resolve, reject };
      const queue = this.queues.get(scope);
      if (queue) {
        queue.push(append);
      } else {
        this.queues.set(scope, [append]);
        void this.drain(scope);
      }
    });
  }

  async appendWithNotice<N extends LogEntry>(
    scope: string,
    entries: NewEntry<T>[],
    { log, scope: noticeScope, entry }: Notice<N>,
  ): Promise<number[]> {
    const sequences = await this.append(scope, entries);
    if (sequences.length > 0) {
      await log.append(noticeScope, [entry(Math.max(...sequences))]);
    }
    return sequences;
  }

  async read(scope: string, after: number, limit: number): Promise<T[]> {
    if (limit <= 0) {
      return [];
    }
    const filter = { scope, sequence: { $gt: after } };
    const documents = await this.run(() => this.entries.find(filter, { sort: { sequence: 1 }, limit }).toArray());
    return documents.map(
      ({ entry, sequence, dedupeKey }) =>
        // The document without its `_id`, which is a `T` by construction.
        ({ ...entry, scope, sequence, ...compact({ dedupeKey }) }) as unknown as T,
    );
  }

  async last(scope: string): Promise<number> {
    const [newest] = await this.run(() =>
      this.entries.find({ scope }, { sort: { sequence: -1 }, limit: 1, projection: { sequence: 1 } }).toArray(),
    );
    if (newest) {
      return newest.sequence;
    }
    // Expiry writes the floor before it removes entries, so without an entry the floor exists already.
    return (await this.run(() => this.floors.findOne({ _id: scope })))?.sequence ?? 0;
  }

  async trim(scope: string): Promise<number> {
    const last = await this.last(scope);
    return (await this.run(() => this.entries.deleteMany({ scope, sequence: { $lt: last } }))).deletedCount;
  }

  watch(scope: string, options: { after: number; signal: AbortSignal }): AsyncIterable<T[]> {
    const read = (after: number, limit: number) => this.read(scope, after, limit);
    return watchEntries({ read, wakeUp: this.wakeUp, topic: topicOf(this.name, scope), log: this.log }, options);
  }

  private toPending({ dedupeKey, ...entry }: NewEntry<T>): Pending {
    const json = JSON.stringify(entry);
    assertStorable(this.name, entry, json);
    return { entry: JSON.parse(json) as Record<string, unknown>, ...compact({ dedupeKey }) };
  }

  /** Appends of one scope that arrive while another is under way share the next round trip. */
  private async drain(scope: string): Promise<void> {
    for (;;) {
      const appends = this.queues.get(scope)?.splice(0) ?? [];
      if (appends.length === 0) {
        break;
      }
      try {
        await this.insertAll(
          scope,
          appends.flatMap((append) => append.entries),
        );
        for (const { entries, resolve, reject } of appends) {
          const sequences = entries.flatMap(({ sequence }) => sequence ?? []);
          if (sequences.length === entries.length) {
            resolve(sequences);
          } else {
            reject(new SealedScopeError(this.name, scope));
          }
        }
        this.wakeUp.notify(topicOf(this.name, scope));
      } catch (error) {
        for (const { reject } of appends) {
          reject(error);
        }
      }
    }
    this.queues.delete(scope);
  }

  /**
   * Takes numbers optimistically; where another writer took one, continues with the next ones. In a scope that has its last
   * entry, new ones get no number.
   */
  private async insertAll(scope: string, pending: Pending[]): Promise<void> {
    for (let round = 0; round < maxRounds; round += 1) {
      // In this order: a last entry inserted after this check takes the number of the next entry.
      const last = await this.last(scope);
      const sealed = await this.findDuplicates(scope, pending);
      const missing = withoutNumber(pending);
      if (missing.length === 0) {
        break;
      }
      if (sealed) {
        return;
      }
      await this.insertSome(scope, last, this.upToSeal(missing).slice(0, maxInInsert));
    }
    await this.findDuplicates(scope, pending);
    if (pending.some(({ sequence }) => sequence === undefined)) {
      throw new StoreUnavailableError(`${this.name}: other writers kept using the next numbers of ${scope}.`);
    }
  }

  /** Inserts in order until a number or a key turns out to be taken, and records the assigned numbers. */
  private async insertSome(scope: string, last: number, missing: Pending[]): Promise<void> {
    const documents = missing.map(({ entry, dedupeKey }, at): EntryDocument => {
      const sequence = last + 1 + at;
      const dedupe = dedupeKey === undefined ? {} : { dedupeKey, dedupe: dedupeOf(scope, dedupeKey) };
      return { _id: idOf(scope, sequence), scope, sequence, ...dedupe, entry };
    });
    let inserted = documents.length;
    try {
      await this.entries.insertMany(documents, { ordered: true });
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) {
        throw translateError(this.name, error);
      }
      inserted = firstRefused(error);
    }
    for (let at = 0; at < inserted; at += 1) {
      const entry = missing[at];
      if (entry) {
        entry.sequence = last + 1 + at;
      }
    }
  }

  private upToSeal(missing: Pending[]): Pending[] {
    const seal = missing.findIndex(({ dedupeKey }) => dedupeKey !== undefined && dedupeKey === this.sealKey);
    return seal < 0 ? missing : missing.slice(0, seal + 1);
  }

  /** Notes the numbers of entries whose key is in the scope already. @returns whether its last entry is */
  private async findDuplicates(scope: string, pending: Pending[]): Promise<boolean> {
    const open = pending.filter(({ sequence, dedupeKey }) => sequence === undefined && dedupeKey !== undefined);
    const dedupeKeys = [...open.map(({ dedupeKey }) => dedupeKey), this.sealKey].filter((key) => key !== undefined);
    if (dedupeKeys.length === 0) {
      return false;
    }
    const keys = dedupeKeys.map((key) => dedupeOf(scope, key));
    const projection = { sequence: 1, dedupeKey: 1 } as const;
    const duplicates = await this.run(() => this.entries.find({ dedupe: { $in: keys } }, { projection }).toArray());
    const sequences = new Map(duplicates.map(({ dedupeKey, sequence }) => [dedupeKey, sequence]));
    for (const each of open) {
      const sequence = sequences.get(each.dedupeKey);
      if (sequence !== undefined) {
        each.sequence = sequence;
      }
    }
    return this.sealKey !== undefined && sequences.has(this.sealKey);
  }

  private run<R>(operation: () => Promise<R>): Promise<R> {
    return translated(this.name, operation);
  }
}

/** Entries without a number; of several with the same key only the first, whose number the others then find. */
function withoutNumber(pending: Pending[]): Pending[] {
  const keys = new Set<string>();
  return pending.filter(({ sequence, dedupeKey }) => {
    if (sequence !== undefined || (dedupeKey !== undefined && keys.has(dedupeKey))) {
      return false;
    }
    if (dedupeKey !== undefined) {
      keys.add(dedupeKey);
    }
    return true;
  });
}

export function topicOf(name: string, scope: string): string {
  return `${name}/${scope}`;
}

/** In an ordered insert everything before the refused document is in, and nothing after it. */
function firstRefused({ writeErrors }: MongoBulkWriteError): number {
  const refused = [writeErrors].flat()[0];
  return refused?.index ?? 0;
}
