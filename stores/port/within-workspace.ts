import type { Filter } from 'mongodb';
import type { Collection, Stored } from './collection';

/** A record of a collection that all workspaces have in common. */
export interface OfWorkspace extends Stored {
  workspaceId: string;
}

/**
 * The records of one workspace in a collection that all of them have in common: every filter is narrowed to it, and no other record
 * is inserted.
 */
export function withinWorkspace<T extends OfWorkspace>(collection: Collection<T>, workspaceId: string): Collection<T> {
  const narrowed = (filter: Filter<T>): Filter<T> => ({ $and: [filter, { workspaceId } as Filter<T>] }) as Filter<T>;
  const assertOwn = (document: T): void => {
    if (document.workspaceId !== workspaceId) {
      throw new TypeError(`A record of ${document.workspaceId} is none of ${workspaceId}.`);
    }
  };
  return {
    async insert(document) {
      assertOwn(document);
      await collection.insert(document);
    },
    async insertAll(documents) {
      documents.forEach(assertOwn);
      return collection.insertAll(documents);
    },
    async get(id) {
      const found = await collection.get(id);
      return found?.workspaceId === workspaceId ? found : undefined;
    },
    find: (filter, options) => collection.find(narrowed(filter), options),
    findFields: (filter, fields, options) => collection.findFields(narrowed(filter), fields, options),
    count: (filter) => collection.count(narrowed(filter)),
    findOneAndUpdate: (filter, update, options) => collection.findOneAndUpdate(narrowed(filter), update, options),
    updateMany: (filter, update) => collection.updateMany(narrowed(filter), update),
    deleteMany: (filter) => collection.deleteMany(narrowed(filter)),
    aggregate: ([{ $match: match = {}, ...first } = {}, ...rest]) =>
      collection.aggregate([{ ...first, $match: narrowed(match as Filter<T>) }, ...rest]),
  };
}
