import type { Log } from '../../platform/log/log';
import type { EntryLog, LogEntry, NewEntry, Notice } from '../port/collection';
import { InvalidOperationError, SealedScopeError } from '../port/errors';
import { assertId, assertStorable } from '../rules/document';
import type { WakeUp } from '../watch/wake-up';
import { watchEntries } from '../watch/watch-entries';
import type { Connection } from './connection';
import { identifier, type SchemaObject } from './schema';
import type { Writer } from './writer';

interface PreparedEntry {
  dedupeKey: string | null;
  json: string;
}

/** The tables of a log: its entries, and per scope the number below which expiry has removed entries. */
export function logTables(name: string): { entries: string; floors: string } {
  return { entries: identifier(`${name}.entries`), floors: identifier(`${name}.floors`) };
}

/** A log's tables and indexes; `expireField` gets an index. */
export function logSchema(name: string, expireField: string | undefined): SchemaObject[] {
  const { entries, floors } = logTables(name);
  const indexOf = (purpose: string): string => identifier(`${name}.${purpose}`);
  const objects = [
    {
      name: `${name}.entries`,
      sql: `CREATE TABLE IF NOT EXISTS ${entries} (scope TEXT NOT NULL, sequence INTEGER NOT NULL, dedupe TEXT,
      doc TEXT NOT NULL, PRIMARY KEY (scope, sequence)) WITHOUT ROWID`,
    },
    {
      name: `${name}.dedupe`,
      sql: `CREATE UNIQUE INDEX IF NOT EXISTS ${indexOf('dedupe')} ON ${entries} (scope, dedupe) WHERE dedupe IS NOT NULL`,
    },
    {
      name: `${name}.floors`,
      sql: `CREATE TABLE IF NOT EXISTS ${floors} (scope TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID`,
    },
  ];
  const expired = `json_extract(doc,'$."${expireField}"')`;
  const expiry = {
    name: `${name}.expiry`,
    sql: `CREATE INDEX IF NOT EXISTS ${indexOf('expiry')} ON ${entries} (${expired})`,
  };
  return expireField === undefined ? objects : [...objects, expiry];
}

interface SqliteLogDeps {
  connection: Connection;
  writer: Writer;
  wakeUp: WakeUp;
  log: Log;
  sealKey?: string;
}

export class SqliteEntryLog<T extends LogEntry> implements EntryLog<T> {
  private readonly sql: Record<'newest' | 'floor' | 'existing' | 'insert' | 'read' | 'trim', string>;

  private readonly connection: Connection;
  private readonly writer: Writer;
  private readonly wakeUp: WakeUp;
  private readonly log: Log;
  private readonly sealKey?: string;

  constructor(
    private readonly name: string,
    { connection, writer, wakeUp, log, sealKey }: SqliteLogDeps,
  ) {
    this.connection = connection;
    this.writer = writer;
    this.wakeUp = wakeUp;
    this.log = log;
    this.sealKey = sealKey;
    const { entries, floors } = logTables(name);
    this.sql = {
      newest: `SELECT max(sequence) FROM ${entries} WHERE scope = ?`,
      floor: `SELECT sequence FROM ${floors} WHERE scope = ?`,
      existing: `SELECT sequence FROM ${entries} WHERE scope = ? AND dedupe = ?`,
      insert: `INSERT INTO ${entries} (scope, sequence, dedupe, doc) VALUES (?, ?, ?, ?)`,
      trim: `DELETE FROM ${entries} WHERE scope = ?1 AND sequence <
        (SELECT max(sequence) FROM ${entries} WHERE scope = ?1)`,
      read: `SELECT sequence, dedupe, doc FROM ${entries} WHERE scope = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
    };
  }

  async append(scope: string, entries: NewEntry<T>[]): Promise<number[]> {
    assertId(this.name, scope);
    if (entries.length === 0) {
      return [];
    }
    const prepared = entries.map((entry) => this.toPrepared(entry));
    const sequences = await this.writer.submit(() => this.insertAll(scope, prepared), { atomic: true });
    this.wakeUp.notify(this.topic(scope));
    return sequences;
  }

  async appendWithNotice<N extends LogEntry>(
    scope: string,
    entries: NewEntry<T>[],
    { log, scope: noticeScope, entry }: Notice<N>,
  ): Promise<number[]> {
    if (!(log instanceof SqliteEntryLog) || log.connection !== this.connection) {
      throw new InvalidOperationError(this.name, 'the log of the notice is not of this database.');
    }
    const notices = log as SqliteEntryLog<N>;
    assertId(this.name, scope);
    assertId(notices.name, noticeScope);
    if (entries.length === 0) {
      return [];
    }
    const prepared = entries.map((each) => this.toPrepared(each));
    const write = () => {
      const sequences = this.insertAll(scope, prepared);
      notices.insertAll(noticeScope, [notices.toPrepared(entry(Math.max(...sequences)))]);
      return sequences;
    };
    const sequences = await this.writer.submit(write, { atomic: true });
    this.wakeUp.notify(this.topic(scope));
    notices.wakeUp.notify(notices.topic(noticeScope));
    return sequences;
  }

  async read(scope: string, after: number, limit: number): Promise<T[]> {
    type Row = [sequence: number, dedupe: string | null, json: string];
    const rows = await this.writer.read(() => this.connection.rows<Row>(this.sql.read, scope, after, limit));
    return rows.map(([sequence, dedupe, json]) => {
      const entry = JSON.parse(json) as NewEntry<T>;
      // A `T` is what `prepare` took apart; the compiler cannot infer that of a generic type.
      return { ...entry, scope, sequence, ...(dedupe !== null && { dedupeKey: dedupe }) } as unknown as T;
    });
  }

  async last(scope: string): Promise<number> {
    return this.writer.read(() => this.newest(scope));
  }

  async trim(scope: string): Promise<number> {
    return this.writer.submit(() => this.connection.run(this.sql.trim, scope), { atomic: true });
  }

  watch(scope: string, options: { after: number; signal: AbortSignal }): AsyncIterable<T[]> {
    const read = (after: number, limit: number) => this.read(scope, after, limit);
    return watchEntries({ read, wakeUp: this.wakeUp, topic: this.topic(scope), log: this.log }, options);
  }

  private topic(scope: string): string {
    return `${this.name}/${scope}`;
  }

  private toPrepared({ dedupeKey, ...entry }: NewEntry<T>): PreparedEntry {
    const json = JSON.stringify(entry);
    assertStorable(this.name, entry, json);
    return { dedupeKey: dedupeKey ?? null, json };
  }

  private newest(scope: string): number {
    const newest = this.connection.row<[number | null]>(this.sql.newest, scope)?.[0];
    return newest ?? this.connection.row<[number]>(this.sql.floor, scope)?.[0] ?? 0;
  }

  /** Runs inside a transaction, so no other writer can take a number in between. */
  private insertAll(scope: string, entries: PreparedEntry[]): number[] {
    let last = this.newest(scope);
    let sealed = this.sealKey !== undefined && this.find(scope, this.sealKey) !== undefined;
    return entries.map(({ dedupeKey, json }) => {
      const existing = dedupeKey === null ? undefined : this.find(scope, dedupeKey);
      if (existing !== undefined) {
        return existing;
      }
      if (sealed) {
        throw new SealedScopeError(this.name, scope);
      }
      last += 1;
      this.connection.run(this.sql.insert, scope, last, dedupeKey, json);
      sealed = this.sealKey !== undefined && dedupeKey === this.sealKey;
      return last;
    });
  }

  private find(scope: string, dedupeKey: string): number | undefined {
    return this.connection.row<[number]>(this.sql.existing, scope, dedupeKey)?.[0];
  }
}
