import type { SearchCollection } from '../../../contracts/knowledge/search';
import type { Database, Stored } from '../../port/collection';
import { inPages } from '../../port/in-pages';

/** What the index of words has of a document. */
export interface SearchEntry {
  id: string;
  collection: SearchCollection;
  /** Of the text that was indexed. */
  version: string;
}

type EntryDocument = Stored & Omit<SearchEntry, 'id'>;

/** Which version of each document is in the index of words: written after it, so that a crash in between repeats the write. */
export async function createSearchEntryStore(db: Database) {
  const documents = await db.collection<EntryDocument>({ name: 'search-entries' });
  return {
    async *all(): AsyncGenerator<SearchEntry> {
      for await (const { _id: id, collection, version } of inPages(documents, {}, 1_000)) {
        yield { id, collection, version };
      }
    },
    put: async ({ id, ...fields }: SearchEntry): Promise<void> => {
      await documents.findOneAndUpdate({ _id: id }, { $set: fields }, { upsert: true });
    },
    remove: async (id: string): Promise<void> => {
      await documents.deleteMany({ _id: id });
    },
  };
}

export type SearchEntryStore = Awaited<ReturnType<typeof createSearchEntryStore>>;
