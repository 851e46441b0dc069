import { isSameJson } from '../../../platform/json/same';
import { currentOperation, type Operation } from '../../../platform/operations/operation';
import type { Collection, Database, Stored } from '../collection';
import { changedNothing, DuplicateKeyError } from '../errors';

/** Does one write of an operation, and notes that something was written, or may have been. */
export async function noted<T>(
  operation: Operation | undefined,
  write: () => Promise<T>,
  changed: (value: T) => boolean,
) {
  try {
    const value = await write();
    if (changed(value)) {
      operation?.noteWrite();
    }
    return value;
  } catch (error) {
    if (!changedNothing(error)) {
      operation?.noteWrite();
    }
    throw error;
  }
}

/** Whether `existing` is what an earlier try of the operation inserted. */
const isOurs = <T extends Stored>(operation: Operation, document: T, existing: T): boolean =>
  operation.owns(document._id) || (operation.repeated && isSameJson(existing, document));

function repeatableCollection<T extends Stored>(collection: Collection<T>): Collection<T> {
  async function insert(document: T): Promise<void> {
    const operation = currentOperation();
    try {
      await noted(
        operation,
        () => collection.insert(document),
        () => true,
      );
    } catch (error) {
      const taken = operation !== undefined && error instanceof DuplicateKeyError;
      const existing = taken ? await collection.get(document._id) : undefined;
      if (!operation || !existing || !isOurs(operation, document, existing)) {
        throw error;
      }
      // The stored document is returned, with e.g. the sequence that the first try assigned.
      Object.assign(document, existing);
    }
  }

  return {
    insert,
    // What is taken is for the caller to find out: in a batch, an operation's own documents are not distinguished.
    insertAll: (documents) =>
      noted(
        currentOperation(),
        () => collection.insertAll(documents),
        (count) => count > 0,
      ),
    get: (id) => collection.get(id),
    find: (filter, options) => collection.find(filter, options),
    findFields: (filter, fields, options) => collection.findFields(filter, fields, options),
    count: (filter) => collection.count(filter),
    aggregate: (pipeline) => collection.aggregate(pipeline),
    findOneAndUpdate: (filter, update, options) =>
      noted(
        currentOperation(),
        () => collection.findOneAndUpdate(filter, update, options),
        (record) => record !== undefined,
      ),
    updateMany: (filter, update) =>
      noted(
        currentOperation(),
        () => collection.updateMany(filter, update),
        (count) => count > 0,
      ),
    deleteMany: (filter) =>
      noted(
        currentOperation(),
        () => collection.deleteMany(filter),
        (count) => count > 0,
      ),
  };
}

/**
 * The same database for code that runs as part of operations: an insert that an earlier try of the operation did already
 * succeeds with the stored document, and each operation records whether it may have written anything.
 */
export const repeatableDatabase = (database: Database): Database => ({
  kind: database.kind,
  collection: async (spec) => repeatableCollection(await database.collection(spec)),
  log: (spec) => database.log(spec),
  blobs: (name) => database.blobs(name),
  textIndex: (name) => database.textIndex(name),
  assertWritable: () => database.assertWritable(),
  ping: () => database.ping(),
  close: () => database.close(),
});
