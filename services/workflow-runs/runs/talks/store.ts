import type { Thinking, ToolCall } from '../../../../platform/models/message';
import type { Database, Stored } from '../../../../stores/port/collection';
import { insertOnce } from '../../../../stores/port/insert';
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
  /** Absent in those of earlier releases until they are changed. */
  revision?: number;
}

/** A talk as it was read. */
export interface StoredTalk {
  talk: Talk;
  revision: number | undefined;
}

/** Talks disappear so many seconds after their last turn: their turns remain in those of the stage. */
const lifetimeSeconds = 180 * 86_400;

/** What models and tools have exchanged in the stages of runs. */
export async function createTalkStore(db: Database) {
  const records = await db.collection<TalkRecord>({
    name: 'workflow-run-talks',
    expire: { field: 'updatedAt', afterSeconds: lifetimeSeconds },
  });
  const idOf = (runId: string, stageId: string): string => `${runId}/${stageId}`;
  return {
    async get(runId: string, stageId: string): Promise<StoredTalk | undefined> {
      const found = await records.get(idOf(runId, stageId));
      return found && { talk: JSON.parse(found.talk) as Talk, revision: found.revision };
    },

    /**
     * Stores a talk that follows from the seen one.
     *
     * @returns whether it still was that one: an activity that was repeated elsewhere may come late
     */
    async replace(
      { runId, stageId, at, seen }: { runId: string; stageId: string; at: Date; seen: StoredTalk | undefined },
      talk: Talk,
    ): Promise<boolean> {
      const _id = idOf(runId, stageId);
      const fields = { talk: JSON.stringify(talk), updatedAt: at.toISOString() };
      if (!seen) {
        return insertOnce(records, { _id, ...fields, revision: 1 });
      }
      const replaced = await records.findOneAndUpdate(
        { _id, revision: seen.revision ?? { $exists: false } },
        { $set: fields, $inc: { revision: 1 } },
      );
      return replaced !== undefined;
    },
  };
}
export type TalkStore = Awaited<ReturnType<typeof createTalkStore>>;
