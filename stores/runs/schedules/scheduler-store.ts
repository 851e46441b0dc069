import type { Database, Stored } from '../../port/collection';

interface Mark extends Stored {
  missed: number;
}

/** How many missed times of each scheduled deliverable were made good, by the count of its Schedule. */
export async function createSchedulerStore(db: Database) {
  const marks = await db.collection<Mark>({ name: 'scheduler-marks' });
  return {
    madeGood: async (id: string): Promise<number> => (await marks.get(id))?.missed ?? 0,

    async mark(id: string, missed: number): Promise<void> {
      await marks.findOneAndUpdate({ _id: id }, { $set: { missed } }, { upsert: true });
    },

    async remove(id: string): Promise<void> {
      await marks.deleteMany({ _id: id });
    },
  };
}
