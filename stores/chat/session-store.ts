import type { ChatMessage, ChatSessionSummary } from '../../contracts/chat/session';
import { Page, type PageRequest } from '../../platform/lists/page';
import { newRecordId, operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { createSequencer, type Sequenced } from '../port/sequencer';

type SessionRecord = Stored & Omit<ChatSessionSummary, 'id'>;
type MessageRecord = Sequenced & Omit<ChatMessage, 'id'> & { sessionId: string };

const newestFirst = { key: 'sequence', direction: -1, unique: true } as const;

/** Chat sessions and their messages, in order (specification 1, Chat and squad). */
export async function createChatStore(db: Database, now: () => Date = operationTime) {
  const sessions = await db.collection<SessionRecord>({
    name: 'chat-sessions',
    indexes: [{ keys: { updated: -1, _id: -1 } }, { keys: { taskId: 1, updated: -1, _id: -1 } }],
  });
  const messages = await db.collection<MessageRecord>({
    name: 'chat-messages',
    indexes: [{ keys: { sessionId: 1, sequence: 1 }, unique: true }],
  });
  const sequencer = createSequencer(messages);

  return {
    async get(id: string): Promise<ChatSessionSummary | undefined> {
      const record = await sessions.get(id);
      return record && presentSession(record);
    },

    async create(fields: Omit<ChatSessionSummary, 'id' | 'created' | 'updated'>): Promise<ChatSessionSummary> {
      const at = now().toISOString();
      const record: SessionRecord = { ...fields, _id: newRecordId('chat'), created: at, updated: at };
      await sessions.insert(record);
      return presentSession(record);
    },

    /** The session that was last spoken in comes first. */
    async list({ taskId, ...part }: PageRequest & { taskId?: string | undefined }): Promise<Page<ChatSessionSummary>> {
      const filter = taskId === undefined ? { updated: { $gt: '' } } : { taskId };
      return (await findPage(sessions, { filter, order: { key: 'updated', direction: -1 } }, part)).map(presentSession);
    },

    /** Adds a message; `undefined` when there is no such session (any more). */
    async addMessage(
      sessionId: string,
      message: Omit<ChatMessage, 'id' | 'sequence' | 'timestamp'>,
    ): Promise<ChatMessage | undefined> {
      const timestamp = now().toISOString();
      if (!(await sessions.findOneAndUpdate({ _id: sessionId }, { $set: { updated: timestamp } }))) {
        return undefined;
      }
      const _id = newRecordId('message');
      const record = await sequencer.append((sequence) => ({ ...message, _id, sessionId, sequence, timestamp }), {
        sessionId,
      });
      // A session that was deleted meanwhile must not leave messages behind.
      if (!(await sessions.get(sessionId))) {
        await messages.deleteMany({ sessionId });
        return undefined;
      }
      return presentMessage(record);
    },

    /** The newest messages before a sequence, the oldest of them first; the next page holds older ones. */
    async history(
      sessionId: string,
      { before = Number.MAX_SAFE_INTEGER, ...part }: PageRequest & { before?: number | undefined },
    ): Promise<Page<ChatMessage>> {
      const filter = { sessionId, sequence: { $lt: before } };
      const { items, next } = await findPage(messages, { filter, order: newestFirst }, part);
      return new Page(items.reverse().map(presentMessage), next);
    },

    /** Deletes a session with all its messages; whether there was one. */
    async remove(id: string): Promise<boolean> {
      const removed = await sessions.deleteMany({ _id: id });
      await messages.deleteMany({ sessionId: id });
      return removed > 0;
    },
  };
}

const presentSession = ({ _id, ...session }: SessionRecord): ChatSessionSummary => ({ id: _id, ...session });

const presentMessage = ({ _id, sessionId: _s, ...message }: MessageRecord): ChatMessage => ({ id: _id, ...message });
