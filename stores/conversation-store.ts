import type { Continuation } from '../contracts/completion';
import type { ConversationSource } from '../contracts/conversation';
import type { Database } from './collection';
import { insertOnce } from './insert';

/** What a launch goes on with: kept out of workflow histories. The id is the first attempt it was asked for. */
export interface ConversationRecord extends ConversationSource {
  _id: string;
  continuation: Continuation;
  message: string;
  /** Whose words they are. */
  actor: string;
  createdAt: string;
}

/** The conversations that launches go on with; never changed, so that a retry goes on where the first one did. */
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
