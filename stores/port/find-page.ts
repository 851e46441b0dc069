import type { Filter } from 'mongodb';
import { type Page, pageFrom, type PageRequest } from '../../platform/lists/page';
import { valueAt } from '../rules/values';
import type { Collection, Stored } from './collection';

export interface PageOrder {
  /** Path of a text or a number that every listed document has. */
  key: string;
  direction: 1 | -1;
  /** No two documents that the filter finds have the same key: the index need not end in `_id`. */
  unique?: boolean;
}

/** The documents after a position, in the terms of the index that orders them. */
function after(
  { key, direction, unique }: PageOrder,
  at: { key: string | number; id: string },
): Record<string, unknown> {
  const [beyond, from] = direction === 1 ? ['$gt', '$gte'] : ['$lt', '$lte'];
  if (key === '_id') {
    return { _id: { [beyond]: at.id } };
  }
  if (unique) {
    return { [key]: { [beyond]: at.key } };
  }
  return { [key]: { [from]: at.key }, $or: [{ [key]: { [beyond]: at.key } }, { _id: { [beyond]: at.id } }] };
}

/**
 * One page of the documents that match, in the order of a key; those with the same key in the order of their ids. What is
 * inserted meanwhile neither moves a document to the page before nor shows one twice. Needs an index of what the filter
 * fixes, followed by the key, followed by `_id` unless the key is unique.
 */
export async function findPage<T extends Stored>(
  collection: Pick<Collection<T>, 'find'>,
  { filter, order }: { filter: Filter<T>; order: PageOrder },
  { limit, cursor, offset = 0 }: PageRequest,
): Promise<Page<T>> {
  const { key, direction, unique = false } = order;
  const sort = { [key]: direction, ...(key === '_id' || unique ? {} : { _id: direction }) };
  // A filter whose fields are those of the collection, beside conditions on its key and its id.
  const part = (cursor ? { $and: [filter, after(order, cursor)] } : filter) as Filter<T>;
  const items = await collection.find(part, { sort, skip: offset, limit: limit + 1 });
  return pageFrom(items, limit, (document) => ({
    key: valueAt(document, key) as string | number,
    id: document._id,
  }));
}
