import type { Database, Stored } from '../../../../stores/port/collection';

/** One message in a stage. */
export interface Turn {
  kind: 'system' | 'user' | 'assistant';
  content: string;
}

interface TurnRecord extends Stored {
  turns: Turn[];
}

const idOf = (runId: string, stageId: string): string => `${runId}/${stageId}`;

/** The messages in the stages of runs, whole. */
export async function createTurnStore(db: Database) {
  const records = await db.collection<TurnRecord>({ name: 'workflow-run-turns' });
  return {
    /** Replaces the messages: a stage that is tried again writes all of them again. */
    async put(runId: string, stageId: string, turns: Turn[]): Promise<void> {
      await records.findOneAndUpdate({ _id: idOf(runId, stageId) }, { $set: { turns } }, { upsert: true });
    },
    get: async (runId: string, stageId: string): Promise<Turn[]> =>
      (await records.get(idOf(runId, stageId)))?.turns ?? [],
  };
}

export type TurnStore = Awaited<ReturnType<typeof createTurnStore>>;
