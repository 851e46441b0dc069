import type { Database, Stored } from '../../../../stores/port/collection';

/** One message in a stage. */
export interface StageMessage {
  kind: 'system' | 'user' | 'assistant';
  content: string;
}

interface StageMessagesRecord extends Stored {
  turns: StageMessage[];
}

const idOf = (runId: string, stageId: string): string => `${runId}/${stageId}`;

/** The messages in the stages of runs, whole. */
export async function createStageMessageStore(db: Database) {
  const records = await db.collection<StageMessagesRecord>({ name: 'workflow-run-turns' });
  return {
    /** Replaces the messages: a stage that is tried again writes all of them again. */
    async put(runId: string, stageId: string, turns: StageMessage[]): Promise<void> {
      await records.findOneAndUpdate({ _id: idOf(runId, stageId) }, { $set: { turns } }, { upsert: true });
    },
    get: async (runId: string, stageId: string): Promise<StageMessage[]> =>
      (await records.get(idOf(runId, stageId)))?.turns ?? [],
  };
}

export type StageMessageStore = Awaited<ReturnType<typeof createStageMessageStore>>;
