import type { Filter } from 'mongodb';
import type { Collection, Database, Stored } from '../port/collection';
import { insertOnce } from '../port/insert';

/** Entries that are filed in one write. */
const maxFiled = 200;
/** Filing waits until no entry was added for `quietMs` milliseconds, or this process has added `maxWaiting`. */
const filing = { quietMs: 1_000, maxWaiting: 5_000 };

export interface Inbox<T extends Stored> {
  /**
   * Stores an entry: what is acknowledged survives a crash.
   *
   * @throws DuplicateKeyError when its id is in the inbox
   */
  add(entry: T): Promise<void>;
  /** One entry, filed or not; of two with one id that which was filed first. */
  get(id: string): Promise<T | undefined>;
  /** Files every entry that was acknowledged before the call. */
  fileAll(): Promise<void>;
  /** Whether there was one, filed or not. */
  remove(id: string): Promise<boolean>;
}

/**
 * Documents of a collection with many indexes, each stored first in one that has none: a commit writes every page that it
 * touches, and an index is a page more. They are filed together in a quiet moment, and before each search.
 * An entry is removed from the inbox only once it is filed, so it is in one of the two at any time, and filing may be repeated.
 */
export async function createInbox<T extends Stored>(
  db: Database,
  { name, filed }: { name: string; filed: Collection<T> },
): Promise<Inbox<T>> {
  const inbox = await db.collection<T>({ name });

  /** @returns whether there may be more @throws what an entry could not be filed for, once the others are */
  async function fileSome(): Promise<boolean> {
    const entries = await inbox.find({}, { sort: { _id: 1 }, limit: maxFiled });
    const results = await Promise.allSettled(entries.map((entry) => insertOnce(filed, entry)));
    const done = entries.filter((_entry, index) => results[index]?.status === 'fulfilled').map(({ _id }) => _id);
    if (done.length > 0) {
      await inbox.deleteMany({ _id: { $in: done } } as Filter<T>);
    }
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) {
      throw failed.reason;
    }
    return entries.length === maxFiled;
  }

  let waiting = 0;
  let isFiling = false;
  const timer = setTimeout(() => void fileInBackground(), filing.quietMs).unref();

  async function fileInBackground(): Promise<void> {
    if (isFiling) {
      return;
    }
    isFiling = true;
    waiting = 0;
    // What cannot be filed now stays where it is: the next entry or the next search tries again, and a search reports why.
    await fileAll().catch(() => undefined);
    isFiling = false;
  }

  async function fileAll(): Promise<void> {
    while (await fileSome()) {
      // The next entries.
    }
  }

  return {
    async add(entry) {
      await inbox.insert(entry);
      waiting += 1;
      if (waiting >= filing.maxWaiting) {
        void fileInBackground();
      }
      timer.refresh();
    },

    fileAll,

    get: async (id) => (await filed.get(id)) ?? (await inbox.get(id)) ?? filed.get(id),

    async remove(id) {
      const removed = await Promise.all([inbox, filed].map((each) => each.deleteMany({ _id: id } as Filter<T>)));
      return removed.some((count) => count > 0);
    },
  };
}
