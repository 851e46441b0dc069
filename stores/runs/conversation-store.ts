import type { Continuation } from '../../contracts/runs/completion';
import type { ConversationSource } from '../../contracts/runs/conversation';
import type { Database } from '../port/collection';
import { insertOnce } from '../port/insert';

/** The conversation that a launch continues: not in workflow histories. The id is the first attempt that requested it. */
export interface ConversationRecord extends ConversationSource {
  _id: string;
  /** Absent for the edge `start`. */
  continuation?: Continuation;
  message: string;
  /** The author of the message. */
  actor: string;
  createdAt: string;
}

/** The conversations that launches continue; never changed, so that a retry continues where the first one did. */
export async function createConversationStore(db: Database) {
  const conversations = await db.collection<ConversationRecord>({ name: 'run-conversations' });
  return {
    async put(record: ConversationRecord): Promise<void> {
      await insertOnce(conversations, record);
    },
    get: (id: string) => conversations.get(id),
  };
}

export type ConversationStore = Awaited<ReturnType<typeof createConversationStore>>;
