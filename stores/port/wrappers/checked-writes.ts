import type { BlobStore } from '../../blobs/blob-store';
import type { Collection, Database, EntryLog, LogEntry, Stored } from '../collection';
import type { TextIndex } from '../text/text-index';

/**
 * The same database, with a check right before each write.
 *
 * @param assertAllowed throws where the write must not be made
 */
export function checkedWrites(database: Database, assertAllowed: () => void): Database {
  /** The logs as the adapter has them, by those that are handed out. */
  const originals = new WeakMap<object, unknown>();
  const originalOf = <T extends LogEntry>(log: EntryLog<T>): EntryLog<T> =>
    // Stored under a log of the same entries.
    (originals.get(log) as EntryLog<T> | undefined) ?? log;

  return {
    kind: database.kind,
    async collection<T extends Stored>(spec: Parameters<Database['collection']>[0]) {
      return checkedCollection(await database.collection<T>(spec), assertAllowed);
    },
    async log<T extends LogEntry>(spec: Parameters<Database['log']>[0]) {
      const log = await database.log<T>(spec);
      const checked: EntryLog<T> = {
        async append(scope, entries) {
          assertAllowed();
          return log.append(scope, entries);
        },
        async appendWithNotice(scope, entries, notice) {
          assertAllowed();
          return log.appendWithNotice(scope, entries, { ...notice, log: originalOf(notice.log) });
        },
        async trim(scope) {
          assertAllowed();
          return log.trim(scope);
        },
        read: (scope, after, limit) => log.read(scope, after, limit),
        last: (scope) => log.last(scope),
        watch: (scope, options) => log.watch(scope, options),
      };
      originals.set(checked, log);
      return checked;
    },
    async blobs(name) {
      const blobs = await database.blobs(name);
      const checked: BlobStore = {
        async put(content) {
          assertAllowed();
          return blobs.put(content);
        },
        async remove(sha256, unusedSince) {
          assertAllowed();
          return blobs.remove(sha256, unusedSince);
        },
        size: (sha256) => blobs.size(sha256),
        read: (sha256, range) => blobs.read(sha256, range),
      };
      return checked;
    },
    async textIndex(name) {
      const index = await database.textIndex(name);
      const checked: TextIndex = {
        async put(entry) {
          assertAllowed();
          return index.put(entry);
        },
        async remove(id) {
          assertAllowed();
          return index.remove(id);
        },
        match: (query) => index.match(query),
      };
      return checked;
    },
    assertWritable: () => database.assertWritable(),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}

const checkedCollection = <T extends Stored>(collection: Collection<T>, assertAllowed: () => void): Collection<T> => ({
  async insert(document) {
    assertAllowed();
    return collection.insert(document);
  },
  async insertAll(documents) {
    assertAllowed();
    return collection.insertAll(documents);
  },
  async findOneAndUpdate(filter, update, options) {
    assertAllowed();
    return collection.findOneAndUpdate(filter, update, options);
  },
  async updateMany(filter, update) {
    assertAllowed();
    return collection.updateMany(filter, update);
  },
  async deleteMany(filter) {
    assertAllowed();
    return collection.deleteMany(filter);
  },
  get: (id) => collection.get(id),
  find: (filter, options) => collection.find(filter, options),
  count: (filter) => collection.count(filter),
  aggregate: (pipeline) => collection.aggregate(pipeline),
});
