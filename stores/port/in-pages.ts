import type { Filter } from 'mongodb';
import type { Collection, Stored } from './collection';

/** Documents that are held in memory at a time. */
const usualPage = 200;

/**
 * Every document that matches, in the order of the ids, read in pages. Whatever is done meanwhile, none is yielded twice,
 * and none is passed over that matches all the while. Needs an index of what the filter fixes, followed by `_id`.
 */
export async function* inPages<T extends Stored>(
  collection: Pick<Collection<T>, 'find'>,
  filter: Filter<T>,
  pageSize: number = usualPage,
): AsyncGenerator<T> {
  for (let after = ''; ;) {
    const page = await collection.find({ ...filter, _id: { $gt: after } }, { sort: { _id: 1 }, limit: pageSize });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) {
      return;
    }
    after = last._id;
  }
}
