import { monotonicFactory } from 'ulid';
import { operationUlid } from '../../../platform/operations/new-ids';
import type { Database, Stored } from '../../../stores/port/collection';
import type { HistoryEntry, SavedQuery, SavedQueryInput } from './saved-query';

type SavedQueryRecord = Stored & Omit<SavedQuery, 'id'>;
type HistoryRecord = Stored & Omit<HistoryEntry, 'id'>;

/** Executions that are retained: the latest ones. */
export const maxStoredExecutions = 1_000;

const present = <T extends Stored>({ _id, ...rest }: T): Omit<T, '_id'> & { id: string } => ({ id: _id, ...rest });

/** Queries that were saved, and the executions of any. Both have ULIDs, and the newest is the first. */
export async function createQueryStore(db: Database, { maxStored = maxStoredExecutions }: { maxStored?: number } = {}) {
  const newest = { _id: -1 } as const;
  const everything = { _id: { $gt: '' } };
  const nextId = monotonicFactory();
  const saved = await db.collection<SavedQueryRecord>({ name: 'insight-queries' });
  const history = await db.collection<HistoryRecord>({ name: 'insight-executions' });

  return {
    async add(input: SavedQueryInput, at: Date): Promise<SavedQuery> {
      const time = at.toISOString();
      const record = { _id: operationUlid(at, nextId), ...input, created_at: time, updated_at: time };
      await saved.insert(record);
      return present(record);
    },

    async get(id: string): Promise<SavedQuery | undefined> {
      const record = await saved.get(id);
      return record && present(record);
    },

    async list(page: { skip: number; limit: number }): Promise<SavedQuery[]> {
      return (await saved.find(everything, { sort: newest, ...page })).map(present);
    },

    /** Replaces name and SQL; `undefined` when there is none. */
    async replace(id: string, input: SavedQueryInput, at: Date): Promise<SavedQuery | undefined> {
      const record = await saved.findOneAndUpdate({ _id: id }, { $set: { ...input, updated_at: at.toISOString() } });
      return record && present(record);
    },

    /** Whether there was one. */
    remove: async (id: string): Promise<boolean> => (await saved.deleteMany({ _id: id })) > 0,

    /** Records an execution, and deletes those beyond the retained ones. */
    async note(entry: Omit<HistoryEntry, 'id' | 'timestamp'>, at: Date): Promise<void> {
      await history.insert({ _id: nextId(at.getTime()), ...entry, timestamp: at.toISOString() });
      const [oldest] = await history.find(everything, { sort: newest, skip: maxStored, limit: 1 });
      if (oldest) {
        await history.deleteMany({ _id: { $lte: oldest._id } });
      }
    },

    async executions(page: { skip: number; limit: number }): Promise<HistoryEntry[]> {
      return (await history.find(everything, { sort: newest, ...page })).map(present);
    },
  };
}

export type QueryStore = Awaited<ReturnType<typeof createQueryStore>>;
