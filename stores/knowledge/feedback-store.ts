import type { Filter } from 'mongodb';
import type { Feedback, FeedbackAnalyticsQuery, FeedbackQuery } from '../../contracts/knowledge/feedback';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import { between } from '../port/between';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

type FeedbackRecord = Stored & Omit<Feedback, 'id'>;

/** Maximum records that analytics read: the newest. */
export const analysedFeedback = 5_000;

const present = ({ _id, ...feedback }: FeedbackRecord): Feedback => ({ id: _id, ...feedback });

/** What people and agents think of work that was done (specification 1, Feedback). */
export async function createFeedbackStore(db: Database) {
  const newest = { createdAt: -1, _id: -1 } as const;
  const records = await db.collection<FeedbackRecord>({
    name: 'feedback',
    indexes: [
      { keys: { taskId: 1, ...newest } },
      { keys: { agent: 1, ...newest } },
      { keys: { sentiment: 1, ...newest } },
      { keys: { resolved: 1, ...newest } },
      { keys: newest },
    ],
  });

  /** The times of all are later than nothing: a query without a filter would be refused as unindexed. */
  const filterOf = ({ since, until, ...equal }: Partial<FeedbackQuery & FeedbackAnalyticsQuery>) =>
    compact({ ...equal, createdAt: between(since ?? '', until) }) as Filter<FeedbackRecord>;

  return {
    async add({ id, ...feedback }: Feedback): Promise<void> {
      await records.insert({ _id: id, ...feedback });
    },

    async get(id: string): Promise<Feedback | undefined> {
      const record = await records.get(id);
      return record && present(record);
    },

    /** The newest first. */
    async list({ limit, cursor, offset, ...filter }: FeedbackQuery): Promise<Page<Feedback>> {
      const part = { limit, cursor, offset };
      return (
        await findPage(records, { filter: filterOf(filter), order: { key: 'createdAt', direction: -1 } }, part)
      ).map(present);
    },

    /** The records of analytics: the newest that match, up to {@link analysedFeedback}. */
    async newest(filter: FeedbackAnalyticsQuery): Promise<Feedback[]> {
      return (await records.find(filterOf(filter), { sort: newest, limit: analysedFeedback })).map(present);
    },

    /** `undefined` when there is none. */
    async resolve(id: string, resolved: boolean): Promise<Feedback | undefined> {
      const changed = await records.findOneAndUpdate({ _id: id }, { $set: { resolved } });
      return changed && present(changed);
    },

    /** Whether there was one. */
    remove: async (id: string): Promise<boolean> => (await records.deleteMany({ _id: id })) > 0,
  };
}
