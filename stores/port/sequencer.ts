import type { Filter } from 'mongodb';
import { AppError } from '../../platform/errors/app-error';
import type { Collection, Stored } from './collection';
import { insertOnce } from './insert';

/** A document with its sequence among those of its scope: 1, 2, 3 … */
export interface Sequenced extends Stored {
  sequence: number;
}

/** Writers in several processes contend for the next sequence; after this many tries one is refused. */
const maxTries = 200;

/**
 * Assigns documents their sequence in one order over all processes: a document is only visible once all before it are, so a
 * reader who has seen one has missed none. The collection needs a unique index that ends in `sequence`.
 */
export function createSequencer<T extends Sequenced>(documents: Collection<T>) {
  let turn: Promise<unknown> = Promise.resolve();

  async function newest(scope: Filter<T> = {}): Promise<T | undefined> {
    // The scope is a filter on fields of the document; sequence is one of every document.
    const filter = { ...scope, sequence: { $gte: 1 } } as Filter<T>;
    return (await documents.find(filter, { sort: { sequence: -1 }, limit: 1 }))[0];
  }

  async function append<R extends T | undefined>(make: Make<T, R>, scope?: Filter<T>): Promise<R> {
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      const last = await newest(scope);
      const next = make((last?.sequence ?? 0) + 1, last);
      if (!next || (await insertOnce(documents, next))) {
        return next;
      }
      // A concurrent try of the same request inserted it: another sequence would be refused as well.
      const existing = await documents.get(next._id);
      if (existing) {
        return existing as R;
      }
    }
    throw new AppError('STORE_UNAVAILABLE', { status: 503, message: 'Too many concurrent writers. Try again.' });
  }

  return {
    /** The last document of the scope: what its filter fixes, e.g. one session. */
    newest,

    /**
     * Inserts what `make` makes of the next sequence and the document before it; nothing when it makes nothing. May run more
     * than once. One process inserts one document at a time.
     */
    append<R extends T | undefined>(make: Make<T, R>, scope?: Filter<T>): Promise<R> {
      const appended = turn.then(() => append(make, scope));
      turn = appended.catch(() => undefined);
      return appended;
    },
  };
}

type Make<T, R extends T | undefined> = (sequence: number, last: T | undefined) => R;
