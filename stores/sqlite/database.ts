import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '../../platform/log/log';
import type { BlobStore } from '../blobs/blob-store';
import { openFileBlobs } from '../blobs/files';
import type { Collection, CollectionSpec, Database, EntryLog, LogEntry, LogSpec, Stored } from '../port/collection';
import { StoreUnavailableError } from '../port/errors';
import type { TextIndex } from '../port/text/text-index';
import { assertDeclarable, declare } from '../rules/spec';
import { WakeUp } from '../watch/wake-up';
import { SqliteCollection } from './collection';
import { Connection } from './connection';
import { sweepCollection, sweepLog } from './expiry';
import { logSchema, SqliteEntryLog } from './log';
import { collectionSchema, constraintName } from './schema';
import { SchemaChanges } from './schema-changes';
import { SqliteTextIndex, textIndexSchema } from './text-index';
import { checkpointBytes, WriteAheadLog } from './write-ahead-log';
import { Writer } from './writer';

export interface SqliteOptions {
  /** Created when missing, together with its folder. */
  file: string;
  log: Log;
  /** How long other processes may hold the lock, in milliseconds. Default 10,000. */
  patienceMs?: number | undefined;
  /** How large the file may grow, in MiB; as large as its disk allows when absent or 0. */
  maxMb?: number | undefined;
  /** How often expired documents are removed, in milliseconds. Default one minute. */
  sweepEveryMs?: number;
}

/** How soon a watcher notices what another process has written. A poll takes microseconds. */
const pollEveryMs = 5;

/** What every connection that writes is configured with. */
const commonPragmas = [
  'PRAGMA journal_mode = WAL',
  // A commit does not wait for the disk, and writes nothing back: the log does both before a write is acknowledged.
  'PRAGMA synchronous = NORMAL',
  'PRAGMA wal_autocheckpoint = 0',
  `PRAGMA journal_size_limit = ${checkpointBytes.keep}`,
];

interface SqliteDatabaseOptions {
  logger: Log;
  /** Blobs are files in a folder of their own beside it. */
  file: string;
  patienceMs: number;
  sweepEveryMs: number;
}

class SqliteDatabase implements Database {
  readonly kind = 'sqlite';
  private readonly uniqueKeys = new Map<string, { collection: string; keys: string[] }>();
  private readonly sweeps = new Map<string, () => Promise<void>>();
  private readonly writer: Writer;
  private readonly wal: WriteAheadLog;
  private readonly schema: SchemaChanges;
  private readonly wakeUp: WakeUp;
  private readonly sweeper: NodeJS.Timeout;
  private dataVersion = 0;
  private pragmas: readonly string[] = commonPragmas;

  private readonly logger: Log;
  private readonly folder: string;

  constructor(
    private readonly connection: Connection,
    { logger, file, patienceMs, sweepEveryMs }: SqliteDatabaseOptions,
  ) {
    this.logger = logger;
    this.folder = dirname(file);
    this.wal = new WriteAheadLog(file, logger);
    this.writer = new Writer(connection, this.wal, { uniqueKeys: this.uniqueKeys, patienceMs });
    this.schema = new SchemaChanges({
      file,
      missing: (names) => this.missing(names),
      pragmas: () => this.pragmas,
      wal: this.wal,
      uniqueKeys: this.uniqueKeys,
      patienceMs,
    });
    this.wakeUp = new WakeUp({ everyMs: pollEveryMs, changed: () => this.changedElsewhere() });
    this.sweeper = setInterval(() => void this.sweep(), sweepEveryMs).unref();
  }

  async configure(maxMb: number): Promise<void> {
    await this.writer.read(() => {
      this.pragmas = maxMb > 0 ? [this.limitTo(maxMb), ...commonPragmas] : commonPragmas;
      this.connection.execute(this.pragmas.join(';'));
    });
  }

  private limitTo(maxMb: number): string {
    const [pageBytes] = this.connection.row<[number]>('PRAGMA page_size') ?? [4_096];
    return `PRAGMA max_page_count = ${Math.floor((maxMb * 1_048_576) / pageBytes)}`;
  }

  async collection<T extends Stored>(spec: CollectionSpec): Promise<Collection<T>> {
    const declaration = declare(spec);
    const { name, indexes, expire } = declaration;
    const { connection, writer } = this;
    for (const index of indexes) {
      const keys = index.keys.map(([path]) => path);
      if (index.unique) {
        this.uniqueKeys.set(constraintName(name, index), { collection: name, keys });
      }
    }
    await this.schema.make(name, (each) => collectionSchema({ ...declaration, name: each }));
    if (expire) {
      this.sweeps.set(name, () => sweepCollection({ connection, writer }, name, expire));
    }
    return new SqliteCollection<T>(connection, writer, declaration);
  }

  async log<T extends LogEntry>(spec: LogSpec): Promise<EntryLog<T>> {
    const { name, expire, sealKey } = spec;
    const { connection, writer, wakeUp, logger: log } = this;
    assertDeclarable(name, expire ? [expire.field] : []);
    await this.schema.make(name, (each) => logSchema(each, expire?.field));
    if (expire) {
      this.sweeps.set(`${name}.entries`, () => sweepLog({ connection, writer }, name, expire));
    }
    return new SqliteEntryLog<T>(name, {
      connection,
      writer,
      wakeUp,
      log,
      sealKey,
    });
  }

  async blobs(name: string): Promise<BlobStore> {
    assertDeclarable(name, []);
    return openFileBlobs(join(this.folder, 'blobs', name));
  }

  async textIndex(name: string): Promise<TextIndex> {
    assertDeclarable(name, []);
    await this.schema.make(name, textIndexSchema);
    return new SqliteTextIndex(name, this.connection, this.writer);
  }

  /** A transaction that changes nothing needs the write lock, and no write to the disk. */
  async assertWritable(): Promise<void> {
    await this.writer.submit(() => undefined, { idle: true });
  }

  async ping(): Promise<void> {
    await this.writer.submit(() => {
      this.connection.execute('CREATE TABLE IF NOT EXISTS "store.ping" (id INTEGER PRIMARY KEY, at TEXT)');
      this.connection.run('INSERT OR REPLACE INTO "store.ping" (id, at) VALUES (1, ?)', new Date().toISOString());
    });
    const row = await this.writer.read(() => this.connection.row('SELECT at FROM "store.ping" WHERE id = 1'));
    if (!row) {
      throw new StoreUnavailableError('The database does not return what was written.');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    this.wakeUp.close();
    await this.schema.close();
    await this.writer.close();
    await this.wal.close();
    this.connection.close();
  }

  /** In one pass over the schema, however many there are. */
  private missing(names: readonly string[]): Promise<string[]> {
    const sql = 'SELECT value FROM json_each(?) WHERE value NOT IN (SELECT name FROM sqlite_master)';
    return this.writer.read(() => this.connection.rows<[string]>(sql, JSON.stringify(names)).map(([name]) => name));
  }

  /** SQLite's own count of commits by other connections, in a few microseconds. */
  private changedElsewhere(): boolean {
    const [version] = this.connection.row<[number]>('PRAGMA data_version') ?? [0];
    const changed = version !== this.dataVersion;
    this.dataVersion = version;
    return changed;
  }

  private async sweep(): Promise<void> {
    for (const [name, sweep] of this.sweeps) {
      await sweep().catch((error: unknown) => this.logger.warn({ collection: name, err: error }, 'expiry failed'));
    }
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new StoreUnavailableError(`The folder ${path} cannot be made.`, { cause: error });
  }
}

/**
 * Opens the embedded database: one file, shared by any number of processes of this host.
 *
 * @throws StoreUnavailableError
 */
export async function openSqlite({
  file,
  log,
  patienceMs = 10_000,
  sweepEveryMs = 60_000,
  maxMb = 0,
}: SqliteOptions): Promise<Database> {
  makeFolder(dirname(file));
  const database = new SqliteDatabase(new Connection(file), {
    logger: log,
    file,
    patienceMs,
    sweepEveryMs,
  });
  try {
    await database.configure(maxMb);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
