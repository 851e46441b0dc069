import type { Collection, CollectionSpec, Database, Stored } from './collection';
import { DuplicateKeyError } from './errors';

const id = 'ws-[a-z0-9]{4,32}';
const idPattern = new RegExp(`^${id}$`);
const namePrefix = new RegExp(`^${id}-`);

/**
 * What the stores of a workspace have before their names. No id contains another one and a hyphen, so that two workspaces never
 * have a name in common.
 *
 * @throws TypeError for what is no id of a workspace with stores of its own
 */
export function workspacePrefix(workspaceId: string): string {
  if (!idPattern.test(workspaceId)) {
    throw new TypeError(`${JSON.stringify(workspaceId)} is no id of a workspace with stores of its own.`);
  }
  return `${workspaceId}-`;
}

/** The name of a collection as every workspace has it. */
export const withoutWorkspacePrefix = (name: string): string => name.replace(namePrefix, '');

/**
 * The database as one workspace has it: its collections, logs and blobs have names of their own, so that no query of it can reach
 * those of another workspace. Closing it leaves the database open, which others use.
 */
export const workspaceDatabase = (database: Database, workspaceId: string): Database =>
  prefixedDatabase(database, workspacePrefix(workspaceId));

/** The database with a prefix before the names of its collections, logs and blobs. Closing it leaves the database open. */
export function prefixedDatabase(database: Database, prefix: string): Database {
  const named = <T extends { name: string }>(spec: T): T => ({ ...spec, name: prefix + spec.name });
  return {
    kind: database.kind,
    collection: async <T extends Stored>(spec: CollectionSpec) =>
      ownNameInErrors(await database.collection<T>(named(spec)), spec.name),
    log: (spec) => database.log(named(spec)),
    blobs: (name) => database.blobs(prefix + name),
    textIndex: (name) => database.textIndex(prefix + name),
    assertWritable: () => database.assertWritable(),
    ping: () => database.ping(),
    close: async () => undefined,
  };
}

/** Callers are shown the name of a collection that is taken: without the prefix. */
function ownNameInErrors<T extends Stored>(collection: Collection<T>, name: string): Collection<T> {
  const renamed = async <R>(write: Promise<R>): Promise<R> => {
    try {
      return await write;
    } catch (error) {
      throw error instanceof DuplicateKeyError ? new DuplicateKeyError(name, error.keys) : error;
    }
  };
  return {
    insert: (document) => renamed(collection.insert(document)),
    insertAll: (documents) => collection.insertAll(documents),
    get: (id) => collection.get(id),
    find: (filter, options) => collection.find(filter, options),
    findFields: (filter, fields, options) => collection.findFields(filter, fields, options),
    count: (filter) => collection.count(filter),
    findOneAndUpdate: (filter, update, options) => renamed(collection.findOneAndUpdate(filter, update, options)),
    updateMany: (filter, update) => renamed(collection.updateMany(filter, update)),
    deleteMany: (filter) => collection.deleteMany(filter),
    aggregate: (pipeline) => collection.aggregate(pipeline),
  };
}
