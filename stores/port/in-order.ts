import type { Filter } from 'mongodb';
import type { Collection, Stored } from './collection';

/** Documents that are held in memory at a time. */
const usualPage = 200;

/**
 * Documents whose time in `field` lies before a moment, the oldest first, read in pages. Of documents of the same millisecond
 * some may be passed over at the end of a page: for sweeps that are repeated. Needs an index of what the filter fixes, followed
 * by the field.
 */
export async function* inOrder<T extends Stored>(
  collection: Pick<Collection<T>, 'find'>,
  { field, before, filter }: { field: keyof T & string; before: string; filter?: Filter<T> },
  pageSize: number = usualPage,
): AsyncGenerator<T> {
  for (let after = ''; ;) {
    const range = { [field]: { $gt: after, $lt: before } } as Filter<T>;
    const page = await collection.find({ ...filter, ...range }, { sort: { [field]: 1 }, limit: pageSize });
    yield* page;
    const last = page.at(-1)?.[field];
    if (typeof last !== 'string' || page.length < pageSize) {
      return;
    }
    after = last;
  }
}
