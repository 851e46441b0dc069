import type { Filter } from 'mongodb';
import type { Collection, Stored } from './collection';
import { DuplicateKeyError } from './errors';

/** Inserts a document, unless its id or a unique value of it is taken; whether it was inserted. */
export async function insertOnce<T extends Stored>(collection: Collection<T>, document: T): Promise<boolean> {
  try {
    await collection.insert(document);
    return true;
  } catch (error) {
    if (!(error instanceof DuplicateKeyError)) {
      throw error;
    }
    return false;
  }
}

/**
 * Inserts a document, or returns the one that has its id already, so that a repetition returns the stored one.
 *
 * @throws DuplicateKeyError when a unique value of it is that of a document with another id
 */
export async function insertOrGet<T extends Stored>(collection: Collection<T>, document: T): Promise<T> {
  try {
    await collection.insert(document);
    return document;
  } catch (error) {
    const first = error instanceof DuplicateKeyError ? await collection.get(document._id) : undefined;
    if (!first) {
      throw error;
    }
    return first;
  }
}

/**
 * Inserts a document, unless `max` of those that count are stored already; one that has its id is as good as inserted. It is
 * counted again afterwards, so that of inserts at the same moment some are refused rather than one too many stored.
 *
 * @param among which documents count; needs an index
 * @returns whether the document is stored now
 */
export async function insertWithin<T extends Stored>(
  collection: Collection<T>,
  document: T,
  { among, max }: { among: Filter<T>; max: number },
): Promise<boolean> {
  if (await collection.get(document._id)) {
    return true;
  }
  if ((await collection.count(among)) >= max) {
    return false;
  }
  await insertOnce(collection, document);
  if ((await collection.count(among)) <= max) {
    return true;
  }
  await collection.deleteMany({ _id: document._id } as Filter<T>);
  return false;
}
