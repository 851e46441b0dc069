/** The floor of a store: the same operations by its driver alone, on a document with a revision, each synced where the store syncs. */
import Libsql from 'libsql';
import { type Document, MongoClient } from 'mongodb';

export interface BareDocument {
  _id: string;
  revision: number;
  [field: string]: unknown;
}

export interface BareStore {
  insert(document: BareDocument): Promise<void>;
  /** Inserts them in one write. */
  insertAll(documents: readonly BareDocument[]): Promise<void>;
  get(id: string): Promise<BareDocument | undefined>;
  /** Changes the document of that revision, and counts it up. @throws Error where there is none */
  compareAndSet(id: string, revision: number, change: Record<string, string | number>): Promise<void>;
  close(): Promise<void>;
}

function assertChanged(changed: boolean): void {
  if (!changed) {
    throw new Error('The bare document had another revision.');
  }
}

/** SQLite by its driver: one connection, a table without an index, a synced commit for each write. */
export function bareSqlite(file: string): BareStore {
  const database = new Libsql(file);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE IF NOT EXISTS bare (id TEXT PRIMARY KEY, revision INTEGER, doc TEXT)');
  const insert = database.prepare('INSERT INTO bare (id, revision, doc) VALUES (?, ?, ?)');
  const get = database.prepare('SELECT doc FROM bare WHERE id = ?').raw();
  const set = database.prepare(
    'UPDATE bare SET revision = revision + 1, doc = json_patch(doc, ?) WHERE id = ? AND revision = ?',
  );
  const insertAll = async (documents: readonly BareDocument[]): Promise<void> => {
    database.exec('BEGIN IMMEDIATE');
    for (const document of documents) {
      insert.run(document._id, document.revision, JSON.stringify(document));
    }
    database.exec('COMMIT');
  };
  return {
    insertAll,
    insert: (document) => insertAll([document]),
    get: async (id) => {
      const row = get.get(id) as [string] | undefined;
      return row && (JSON.parse(row[0]) as BareDocument);
    },
    compareAndSet: async (id, revision, change) => {
      database.exec('BEGIN IMMEDIATE');
      const { changes } = set.run(JSON.stringify(change), id, revision);
      database.exec('COMMIT');
      assertChanged(changes === 1);
    },
    close: async () => void database.close(),
  };
}

/** MongoDB by its driver, with the write concern of the stores, in a collection of its own. */
export async function bareMongo(url: string): Promise<BareStore> {
  const client = await MongoClient.connect(url, { writeConcern: { w: 'majority', journal: true } });
  const collection = client.db().collection<Document & { _id: string }>(`bench-bare-${process.pid}-${Date.now()}`);
  return {
    insert: async (document) => void (await collection.insertOne({ ...document })),
    insertAll: async (documents) => void (await collection.insertMany(documents.map((each) => ({ ...each })))),
    get: async (id) => (await collection.findOne({ _id: id })) as BareDocument | undefined,
    compareAndSet: async (id, revision, change) =>
      assertChanged(
        (await collection.findOneAndUpdate({ _id: id, revision }, { $set: change, $inc: { revision: 1 } })) !== null,
      ),
    close: async () => {
      await collection.drop();
      await client.close();
    },
  };
}

/** That of the store which is measured. */
export const bareStore = async (mongoUrl: string | undefined, file: string): Promise<BareStore> =>
  mongoUrl === undefined ? bareSqlite(file) : bareMongo(mongoUrl);
