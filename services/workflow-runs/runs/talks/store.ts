import type { Thinking, ToolCall } from '../../../../platform/models/message';
import type { Database, Stored } from '../../../../stores/port/collection';
import type { PromptTurn } from './messages';

/** One turn of a model, and what came of the calls that it asked for. */
export interface TalkTurn {
  answer: PromptTurn;
  /** The whole text, of which the answer has the beginning. */
  text: string;
  thinking: Thinking[];
  toolCalls: ToolCall[];
  results: { callId: string; content: string; isError: boolean }[];
}

/** What a model was asked, and its turns. */
export interface Talk {
  prompt: string;
  system?: string;
  turns: TalkTurn[];
}

interface TalkRecord extends Stored {
  /** As JSON: names of arguments are the model's. */
  talk: string;
  updatedAt: string;
}

/** Talks disappear so many seconds after their last turn: their turns remain in those of the stage. */
const lifetimeSeconds = 180 * 86_400;

/** What models and tools have exchanged in the stages of runs. One stage writes its own, one turn after the other. */
export async function createTalkStore(db: Database) {
  const records = await db.collection<TalkRecord>({
    name: 'workflow-run-talks',
    expire: { field: 'updatedAt', afterSeconds: lifetimeSeconds },
  });
  const idOf = (runId: string, stageId: string): string => `${runId}/${stageId}`;
  return {
    async get(runId: string, stageId: string): Promise<Talk | undefined> {
      const found = await records.get(idOf(runId, stageId));
      return found && (JSON.parse(found.talk) as Talk);
    },

    async put({ runId, stageId, at }: { runId: string; stageId: string; at: Date }, talk: Talk): Promise<void> {
      const fields = { talk: JSON.stringify(talk), updatedAt: at.toISOString() };
      await records.findOneAndUpdate({ _id: idOf(runId, stageId) }, { $set: fields }, { upsert: true });
    },
  };
}
export type TalkStore = Awaited<ReturnType<typeof createTalkStore>>;
