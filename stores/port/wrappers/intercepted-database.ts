import type { BlobStore } from '../../blobs/blob-store';
import type { Collection, Database, EntryLog, LogEntry, Stored } from '../collection';
import type { TextIndex } from '../text/text-index';

/** What an operation is of, and whether it may change something. */
export interface InterceptedOperation {
  of: 'collection' | 'log' | 'blobs' | 'text-index';
  name: string;
  operation: 'read' | 'write';
  /** What the port calls it, such as `findOneAndUpdate`. */
  method: string;
}

/** Does an operation, and whatever belongs around it. */
export type Intercept = <R>(operation: InterceptedOperation, work: () => Promise<R>) => Promise<R>;

/** The operations of one thing that a database has, each done by the interceptor. */
type Run = <R>(method: string, work: () => Promise<R>) => Promise<R>;

/** The same database, with each of its operations but `watch` done by `intercept`. */
export function interceptedDatabase(database: Database, intercept: Intercept): Database {
  /** The logs as the adapter has them, by those that are handed out. */
  const originals = new WeakMap<object, unknown>();
  const originalOf = <T extends LogEntry>(log: EntryLog<T>): EntryLog<T> =>
    // Stored under a log of the same entries.
    (originals.get(log) as EntryLog<T> | undefined) ?? log;

  const both = (of: InterceptedOperation['of'], name: string): { read: Run; write: Run } => ({
    read: (method, work) => intercept({ of, name, operation: 'read', method }, work),
    write: (method, work) => intercept({ of, name, operation: 'write', method }, work),
  });

  return {
    kind: database.kind,
    async collection<T extends Stored>(spec: Parameters<Database['collection']>[0]) {
      return interceptedCollection(await database.collection<T>(spec), both('collection', spec.name));
    },
    async log<T extends LogEntry>(spec: Parameters<Database['log']>[0]) {
      const log = await database.log<T>(spec);
      const { read, write } = both('log', spec.name);
      const intercepted: EntryLog<T> = {
        append: (scope, entries) => write('append', () => log.append(scope, entries)),
        appendWithNotice: (scope, entries, notice) =>
          write('appendWithNotice', () =>
            log.appendWithNotice(scope, entries, { ...notice, log: originalOf(notice.log) }),
          ),
        trim: (scope) => write('trim', () => log.trim(scope)),
        read: (scope, after, limit) => read('read', () => log.read(scope, after, limit)),
        last: (scope) => read('last', () => log.last(scope)),
        watch: (scope, options) => log.watch(scope, options),
      };
      originals.set(intercepted, log);
      return intercepted;
    },
    async blobs(name) {
      const blobs = await database.blobs(name);
      const { read, write } = both('blobs', name);
      const intercepted: BlobStore = {
        put: (content) => write('put', () => blobs.put(content)),
        remove: (sha256, unusedSince) => write('remove', () => blobs.remove(sha256, unusedSince)),
        size: (sha256) => read('size', () => blobs.size(sha256)),
        read: (sha256, range) => blobs.read(sha256, range),
      };
      return intercepted;
    },
    async textIndex(name) {
      const index = await database.textIndex(name);
      const { read, write } = both('text-index', name);
      const intercepted: TextIndex = {
        put: (entry) => write('put', () => index.put(entry)),
        remove: (id) => write('remove', () => index.remove(id)),
        match: (query) => read('match', () => index.match(query)),
      };
      return intercepted;
    },
    assertWritable: () => database.assertWritable(),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}

const interceptedCollection = <T extends Stored>(
  collection: Collection<T>,
  { read, write }: { read: Run; write: Run },
): Collection<T> => ({
  insert: (document) => write('insert', () => collection.insert(document)),
  insertAll: (documents) => write('insertAll', () => collection.insertAll(documents)),
  findOneAndUpdate: (filter, update, options) =>
    write('findOneAndUpdate', () => collection.findOneAndUpdate(filter, update, options)),
  updateMany: (filter, update) => write('updateMany', () => collection.updateMany(filter, update)),
  deleteMany: (filter) => write('deleteMany', () => collection.deleteMany(filter)),
  get: (id) => read('get', () => collection.get(id)),
  find: (filter, options) => read('find', () => collection.find(filter, options)),
  findFields: (filter, fields, options) => read('findFields', () => collection.findFields(filter, fields, options)),
  count: (filter) => read('count', () => collection.count(filter)),
  aggregate: (pipeline) => read('aggregate', () => collection.aggregate(pipeline)),
});
