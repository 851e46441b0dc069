import type { Collection, Database, EntryLog, LogEntry, Stored } from '../collection';

/** Receives how long an operation of a store took, in milliseconds, whether it failed or not. */
export type RecordOperation = (
  ms: number,
  operation: { collection: string; operation: 'read' | 'write'; failed: boolean },
) => void;

/** The same database, with the time that each operation takes. */
export function measuredDatabase(database: Database, record: RecordOperation): Database {
  /** The logs as the adapter has them, by those that are handed out. */
  const originals = new WeakMap<object, unknown>();
  const originalOf = <T extends LogEntry>(log: EntryLog<T>): EntryLog<T> =>
    // Stored under a log of the same entries.
    (originals.get(log) as EntryLog<T> | undefined) ?? log;

  const timed = (collection: string, operation: 'read' | 'write') =>
    async function measure<R>(work: () => Promise<R>): Promise<R> {
      const startedAt = performance.now();
      let failed = true;
      try {
        const result = await work();
        failed = false;
        return result;
      } finally {
        record(performance.now() - startedAt, { collection, operation, failed });
      }
    };

  return {
    kind: database.kind,
    async collection<T extends Stored>(spec: Parameters<Database['collection']>[0]) {
      return measuredCollection(await database.collection<T>(spec), {
        read: timed(spec.name, 'read'),
        write: timed(spec.name, 'write'),
      });
    },
    async log<T extends LogEntry>(spec: Parameters<Database['log']>[0]) {
      const log = await database.log<T>(spec);
      const [read, write] = [timed(spec.name, 'read'), timed(spec.name, 'write')];
      const measured: EntryLog<T> = {
        append: (scope, entries) => write(() => log.append(scope, entries)),
        appendWithNotice: (scope, entries, notice) =>
          write(() => log.appendWithNotice(scope, entries, { ...notice, log: originalOf(notice.log) })),
        trim: (scope) => write(() => log.trim(scope)),
        read: (scope, after, limit) => read(() => log.read(scope, after, limit)),
        last: (scope) => read(() => log.last(scope)),
        watch: (scope, options) => log.watch(scope, options),
      };
      originals.set(measured, log);
      return measured;
    },
    blobs: (name) => database.blobs(name),
    textIndex: (name) => database.textIndex(name),
    assertWritable: () => database.assertWritable(),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}

type Measure = <R>(work: () => Promise<R>) => Promise<R>;

const measuredCollection = <T extends Stored>(
  collection: Collection<T>,
  { read, write }: { read: Measure; write: Measure },
): Collection<T> => ({
  insert: (document) => write(() => collection.insert(document)),
  insertAll: (documents) => write(() => collection.insertAll(documents)),
  findOneAndUpdate: (filter, update, options) => write(() => collection.findOneAndUpdate(filter, update, options)),
  updateMany: (filter, update) => write(() => collection.updateMany(filter, update)),
  deleteMany: (filter) => write(() => collection.deleteMany(filter)),
  get: (id) => read(() => collection.get(id)),
  find: (filter, options) => read(() => collection.find(filter, options)),
  count: (filter) => read(() => collection.count(filter)),
  aggregate: (pipeline) => read(() => collection.aggregate(pipeline)),
});
