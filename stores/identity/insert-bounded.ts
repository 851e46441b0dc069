import type { Filter } from 'mongodb';
import { refusal, RefusedError } from '../../domain/refusal';
import type { Collection, Stored } from '../port/collection';

interface Bound<T extends Stored> {
  /** The documents that count; needs an index. */
  among: Filter<T>;
  max: number;
  /** What they are called: `API tokens`. */
  of: string;
}

/**
 * Inserts a document unless there are as many as there may be. It is counted after it was inserted, so that requests at the
 * same moment are refused rather than one too many let in.
 *
 * @throws RefusedError `IDENTITY_LIMIT_REACHED`; DuplicateKeyError
 */
export async function insertBounded<T extends Stored>(
  collection: Collection<T>,
  document: T,
  { among, max, of }: Bound<T>,
): Promise<void> {
  const full = new RefusedError(
    refusal('IDENTITY_LIMIT_REACHED', `A workspace has ${max} ${of} at most.`, { limit: max, of }),
  );
  if ((await collection.count(among)) >= max) {
    throw full;
  }
  await collection.insert(document);
  if ((await collection.count(among)) > max) {
    await collection.deleteMany({ _id: document._id } as Filter<T>);
    throw full;
  }
}
