import type { Collection, Database, Stored } from '../../../stores/port/collection';

/** The database, counting the documents that its finds return, and reads of single ones. */
export function counting(database: Database, read: { documents: number }): Database {
  const collection = async <T extends Stored>(spec: Parameters<Database['collection']>[0]): Promise<Collection<T>> => {
    const opened = await database.collection<T>(spec);
    const find: Collection<T>['find'] = async (...query) => {
      const found = await opened.find(...query);
      read.documents += found.length;
      return found;
    };
    const get: Collection<T>['get'] = async (id) => {
      read.documents += 1;
      return opened.get(id);
    };
    return Object.assign(Object.create(opened) as Collection<T>, { find, get });
  };
  return Object.assign(Object.create(database) as Database, { collection });
}
