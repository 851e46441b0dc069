import type { Database, Stored } from '../../../../stores/port/collection';

/** A program that a stage has run. */
export interface ToolUse {
  id: string;
  tool_name: string;
  /** JSON, as is `result`. */
  input: string;
  result: string;
  is_error: boolean;
  duration_ms?: number;
}

/** One message in a stage. */
export type StageMessage =
  { kind: 'system' | 'user' | 'assistant'; content: string } | { kind: 'tool'; tools: ToolUse[] };

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
