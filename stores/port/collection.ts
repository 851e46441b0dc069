import type { Document, Filter, UpdateFilter } from 'mongodb';
import type { BlobStore } from '../blobs/blob-store';
import type { TextIndex } from './text/text-index';

/** What every stored document has. Fields are JSON: no class instances, no Date (timestamps are ISO 8601 text). */
export interface Stored {
  _id: string;
}

/** A declared index. A query that no declared index (or `_id`) can serve is refused with `UnindexedQueryError`. */
export interface IndexSpec {
  keys: Record<string, 1 | -1>;
  unique?: boolean;
}

export interface CollectionSpec {
  /** Lower-case letters and digits in kebab-case; the name in both adapters. */
  name: string;
  indexes?: IndexSpec[];
  /** Documents disappear this long after the ISO timestamp in `field` (checked at least once a minute). */
  expire?: { field: string; afterSeconds: number };
}

export interface FindOptions {
  /** Sorting by a path that the chosen index does not end in is done in memory and bounded to 10,000 documents. */
  sort?: Record<string, 1 | -1>;
  skip?: number;
  limit?: number;
}

/**
 * One collection, in MongoDB's own terms. Filters, updates and pipelines are MongoDB's, within what both adapters
 * pass the contract test with: no pipeline updates, partial indexes, text search or transactions.
 */
export interface Collection<T extends Stored> {
  /** @throws DuplicateKeyError when `_id` or a unique index has the value already */
  insert(document: T): Promise<void>;
  /**
   * Inserts documents in their order, in one write where the adapter has transactions, up to the first whose `_id` or value of a
   * unique index is taken. A crash in the middle leaves a prefix.
   *
   * @returns how many were inserted
   */
  insertAll(documents: readonly T[]): Promise<number>;
  get(id: string): Promise<T | undefined>;
  find(filter: Filter<T>, options?: FindOptions): Promise<T[]>;
  /** The same, with these fields of each document alone: the rest of a large one is left out. */
  findFields<K extends keyof T & string>(
    filter: Filter<T>,
    fields: readonly K[],
    options?: FindOptions,
  ): Promise<Pick<T, K>[]>;
  count(filter: Filter<T>): Promise<number>;
  /**
   * Changes one document atomically and returns the changed one; `undefined` when none matches. The compare in every
   * compare-and-set is the filter. With `upsert` a missing document is made from the filter's equalities, `$setOnInsert` and
   * the update.
   *
   * @throws DuplicateKeyError when a unique index refuses the result
   */
  findOneAndUpdate(
    filter: Filter<T>,
    update: UpdateFilter<T>,
    options?: { upsert?: boolean; sort?: Record<string, 1 | -1> },
  ): Promise<T | undefined>;
  /** Returns how many documents were changed. Atomic per document. */
  updateMany(filter: Filter<T>, update: UpdateFilter<T>): Promise<number>;
  /** Returns how many documents were deleted. */
  deleteMany(filter: Filter<T>): Promise<number>;
  /** Stages that both adapters pass: `$match` (first, indexed), `$group`, `$sort`, `$limit`, `$project`, `$unwind`, `$count`. */
  aggregate(pipeline: Document[]): Promise<Document[]>;
}

/** What an appended entry looks like once it is stored. */
export interface LogEntry {
  scope: string;
  /** 1, 2, 3 … without gaps within its scope; an entry is only visible once all before it are. */
  sequence: number;
  /** An entry whose key is in its scope already is not appended again. */
  dedupeKey?: string;
}

export interface LogSpec {
  name: string;
  /** The entry with this `dedupeKey` is the last one of its scope: new ones after it are refused. */
  sealKey?: string;
  expire?: { field: string; afterSeconds: number };
}

export type NewEntry<T extends LogEntry> = Omit<T, 'scope' | 'sequence'>;

/** The notice of appended entries, and its log. */
export interface Notice<N extends LogEntry> {
  /** A log of the same database. */
  log: EntryLog<N>;
  scope: string;
  /** @param last the highest sequence of the appended entries */
  entry: (last: number) => NewEntry<N>;
}

/** An append-only log, partitioned by scope, with gapless sequences: the source of replay and of live watching. */
export interface EntryLog<T extends LogEntry> {
  /**
   * Appends in order and returns one sequence per entry (for a duplicate `dedupeKey`, that of the existing entry). A crash in
   * the middle leaves a prefix, never a gap.
   *
   * @throws SealedScopeError when an entry is new and the scope has its last one, atomically with the append
   */
  append(scope: string, entries: NewEntry<T>[]): Promise<number[]>;
  /**
   * The same, and announces it with an entry of another log of this database: in one write where the adapter has transactions,
   * right after otherwise. A crash in between leaves entries without a notice, never the reverse.
   */
  appendWithNotice<N extends LogEntry>(scope: string, entries: NewEntry<T>[], notice: Notice<N>): Promise<number[]>;
  /** Up to `limit` entries with `sequence > after`, in order. */
  read(scope: string, after: number, limit: number): Promise<T[]>;
  /** The highest sequence of the scope; 0 when it is empty. */
  last(scope: string): Promise<number>;
  /** Removes the entries of the scope but for the last one, so that its sequence and its end remain. @returns how many */
  trim(scope: string): Promise<number>;
  /**
   * Yields batches of entries with `sequence > after`, in order, as they are appended by any process, until `signal`
   * aborts. Reconnects by itself; never skips.
   */
  watch(scope: string, options: { after: number; signal: AbortSignal }): AsyncIterable<T[]>;
}

export interface Database {
  readonly kind: 'sqlite' | 'mongo';
  /** Declares a collection and its indexes; idempotent, safe in several processes at once. */
  collection<T extends Stored>(spec: CollectionSpec): Promise<Collection<T>>;
  log<T extends LogEntry>(spec: LogSpec): Promise<EntryLog<T>>;
  /** Content that is too large for a document. `name` as for a collection. */
  blobs(name: string): Promise<BlobStore>;
  /** An index of words. `name` as for a collection. */
  textIndex(name: string): Promise<TextIndex>;
  /** Resolves when a write could begin now; it costs next to nothing. @throws StoreUnavailableError */
  assertWritable(): Promise<void>;
  /** Resolves when a write and a read of the store work. @throws StoreUnavailableError */
  ping(): Promise<void>;
  close(): Promise<void>;
}
