import { type Collection as MongoCollection, type Db, type Document, MongoClient } from 'mongodb';
import type { Log } from '../../platform/log/log';
import type { BlobStore } from '../blobs/blob-store';
import { openGridFsBlobs } from '../blobs/gridfs';
import type { Collection, CollectionSpec, Database, EntryLog, LogEntry, LogSpec, Stored } from '../port/collection';
import { StoreUnavailableError } from '../port/errors';
import type { TextIndex } from '../port/text/text-index';
import { assertDeclarable, declare } from '../rules/spec';
import { WakeUp } from '../watch/wake-up';
import { ChangeFeed } from './change-feed';
import { MongoStoreCollection } from './collection';
import { translated } from './errors';
import { sweepCollection, sweepLog } from './expiry';
import { type EntryDocument, type FloorDocument, MongoEntryLog, topicOf } from './log';
import { MongoTextIndex, type TextDocument } from './text-index';

export interface MongoOptions {
  /** A connection string; the database is the one it names, `runboard` when it names none. */
  url: string;
  log: Log;
  /** How long to wait for a server that responds, in milliseconds. Default 5,000. */
  selectionTimeoutMs?: number;
  /** How often expired documents are removed, in milliseconds. Default one minute. */
  sweepEveryMs?: number;
}

/** How often watchers poll for entries: without a change stream, and as a safety net beside one. */
const pollEveryMs = { alone: 100, besideStream: 1_000 };

class MongoDatabase implements Database {
  readonly kind = 'mongo';
  private readonly sweeps = new Map<string, () => Promise<void>>();
  private readonly feeds = new Map<string, ChangeFeed>();
  private readonly wakeUp: WakeUp;
  private readonly sweeper: NodeJS.Timeout;
  private lookedAt = 0;

  /** Whether the server has change streams. */
  private readonly streams: boolean;
  private readonly logger: Log;

  constructor(
    private readonly client: MongoClient,
    private readonly db: Db,
    { streams, logger, sweepEveryMs }: { streams: boolean; logger: Log; sweepEveryMs: number },
  ) {
    this.streams = streams;
    this.logger = logger;
    this.wakeUp = new WakeUp({ everyMs: pollEveryMs.alone, changed: () => this.mayHaveChanged() });
    this.sweeper = setInterval(() => void this.sweep(), sweepEveryMs).unref();
  }

  async collection<T extends Stored>(spec: CollectionSpec): Promise<Collection<T>> {
    const declaration = declare(spec);
    const { name, indexes, expire } = declaration;
    const documents = this.db.collection<Stored & Document>(name);
    await translated(name, async () => {
      for (const { keys, unique } of indexes) {
        // Sparse: a document without any of the keys does not take part in a unique index.
        await documents.createIndex(Object.fromEntries(keys), unique ? { unique, sparse: true } : {}, {});
      }
    });
    if (expire) {
      this.sweeps.set(name, () => sweepCollection(documents, expire));
    }
    return new MongoStoreCollection<T>(documents, declaration);
  }

  async log<T extends LogEntry>(spec: LogSpec): Promise<EntryLog<T>> {
    const { name, expire, sealKey } = spec;
    assertDeclarable(name, expire ? [expire.field] : []);
    const entries = this.db.collection<EntryDocument>(`${name}.entries`);
    const floors = this.db.collection<FloorDocument>(`${name}.floors`);
    await translated(name, async () => {
      await entries.createIndex({ scope: 1, sequence: 1 }, {}, {});
      await entries.createIndex({ dedupe: 1 }, { unique: true, sparse: true }, {});
      if (expire) {
        await entries.createIndex({ [`entry.${expire.field}`]: 1 }, {}, {});
      }
    });
    if (expire) {
      this.sweeps.set(`${name}.entries`, () => sweepLog(entries, floors, expire));
    }
    if (this.streams) {
      this.follow(name, entries);
    }
    return new MongoEntryLog<T>(name, { entries, floors, wakeUp: this.wakeUp, log: this.logger, sealKey });
  }

  async blobs(name: string): Promise<BlobStore> {
    assertDeclarable(name, []);
    return openGridFsBlobs(this.db, `${name}.blobs`);
  }

  async textIndex(name: string): Promise<TextIndex> {
    assertDeclarable(name, []);
    const index = new MongoTextIndex(this.db.collection<TextDocument>(`${name}.words`), name);
    await index.prepare();
    return index;
  }

  /** Each write of MongoDB is atomic by itself: no lock is held over several, so there is none to wait for. */
  async assertWritable(): Promise<void> {
    // Nothing to check.
  }

  async ping(): Promise<void> {
    const pings = this.db.collection<Stored & { at: string }>('store.ping');
    await translated('store.ping', async () => {
      await pings.updateOne({ _id: 'ping' }, { $set: { at: new Date().toISOString() } }, { upsert: true });
      if (!(await pings.findOne({ _id: 'ping' }))) {
        throw new StoreUnavailableError('MongoDB does not return what was written.');
      }
    });
  }

  async close(): Promise<void> {
    clearInterval(this.sweeper);
    this.wakeUp.close();
    await Promise.all([...this.feeds.values()].map((feed) => feed.close()));
    await this.client.close();
  }

  private follow(name: string, entries: MongoCollection<EntryDocument>): void {
    if (this.feeds.has(name)) {
      return;
    }
    const feed = new ChangeFeed(entries, (scope) => this.wakeUp.notify(topicOf(name, scope)), this.logger);
    this.feeds.set(name, feed);
    void feed.run();
  }

  private mayHaveChanged(): boolean {
    const live = this.feeds.size > 0 && [...this.feeds.values()].every((feed) => feed.live);
    const now = performance.now();
    if (now - this.lookedAt < (live ? pollEveryMs.besideStream : pollEveryMs.alone)) {
      return false;
    }
    this.lookedAt = now;
    return true;
  }

  private async sweep(): Promise<void> {
    for (const [name, sweep] of this.sweeps) {
      await sweep().catch((error: unknown) => this.logger.warn({ collection: name, err: error }, 'expiry failed'));
    }
  }
}

/** The database that a connection string names. The driver itself would fall back on `test`. */
function databaseName(url: string): string {
  const fromUrl = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return fromUrl === undefined ? 'runboard' : decodeURIComponent(fromUrl);
}

/** Change streams need a replica set or a sharded cluster. */
async function hasChangeStreams(db: Db): Promise<boolean> {
  try {
    const hello = await db.command({ hello: 1 });
    return typeof hello.setName === 'string' || hello.msg === 'isdbgrid';
  } catch {
    return false;
  }
}

/**
 * Connects to MongoDB.
 *
 * @throws StoreUnavailableError when no server responds in time
 */
export async function openMongo({
  url,
  log,
  selectionTimeoutMs = 5_000,
  sweepEveryMs = 60_000,
}: MongoOptions): Promise<Database> {
  const client = new MongoClient(url, {
    appName: 'runboard',
    serverSelectionTimeoutMS: selectionTimeoutMs,
    connectTimeoutMS: selectionTimeoutMs,
    socketTimeoutMS: 30_000,
    writeConcern: { w: 'majority' },
  });
  try {
    await translated('MongoDB', () => client.connect());
  } catch (error) {
    await client.close();
    throw error;
  }
  const db = client.db(databaseName(url));
  return new MongoDatabase(client, db, { streams: await hasChangeStreams(db), logger: log, sweepEveryMs });
}
