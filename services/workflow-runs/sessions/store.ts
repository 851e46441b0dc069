import type { Database } from '../../../stores/port/collection';
import { DuplicateKeyError } from '../../../stores/port/errors';
import { insertOnce, insertOrGet } from '../../../stores/port/insert';
import { previewOf } from './brief';
import { createSessionEvents } from './events';
import { type Draft, type Exchange, maxMessages, type SessionRecord } from './session';
import type { Round } from './tools/rounds';

/** A draft that never gets into a session is forgotten after a day. */
const draftsKeptForSeconds = 86_400;

const newest = { updated_at: -1, _id: -1 } as const;

/** Sessions, their exchanges, and their watchers' events. */
export async function createSessionStore(db: Database) {
  const sessions = await db.collection<SessionRecord>({
    name: 'workflow-run-sessions',
    indexes: [{ keys: { updated_at: -1, _id: -1 } }],
  });
  const exchanges = await db.collection<Exchange>({
    name: 'workflow-run-exchanges',
    indexes: [{ keys: { session: 1, number: 1 }, unique: true }],
  });

  const drafts = await db.collection<Draft>({
    name: 'workflow-run-session-drafts',
    expire: { field: 'created_at', afterSeconds: draftsKeptForSeconds },
  });

  const touch = (session: string, content: string, at: string): Promise<unknown> =>
    sessions.findOneAndUpdate(
      { _id: session, updated_at: { $lte: at } },
      { $set: { last_message_preview: previewOf(content), updated_at: at } },
    );

  /** The number of the latest message, 0 without one. */
  const lastNumber = async (session: string): Promise<number> => {
    const [last] = await exchanges.find({ session }, { sort: { number: -1 }, limit: 1 });
    return last?.number ?? 0;
  };

  /** Inserts an exchange under the next free number; the one that is there when this is a repetition. */
  async function place(message: Omit<Draft, 'opens'>): Promise<Exchange> {
    for (;;) {
      const number = (await lastNumber(message.session)) + 1;
      try {
        return await insertOrGet<Exchange>(exchanges, {
          ...message,
          number,
          state: 'generating',
        });
      } catch (error) {
        // Another message took the number.
        if (!(error instanceof DuplicateKeyError)) {
          throw error;
        }
      }
    }
  }

  return {
    events: await createSessionEvents(db),

    get: (id: string): Promise<SessionRecord | undefined> => sessions.get(id),

    /** Stores a message until it is taken into its session, unless it is stored already. */
    addDraft: (draft: Draft): Promise<unknown> => insertOnce(drafts, draft),
    draft: (id: string): Promise<Draft | undefined> => drafts.get(id),
    removeDraft: (id: string): Promise<unknown> => drafts.deleteMany({ _id: id }),

    /** Creates the session that a message opens, unless it is there. */
    open: ({ session, content, created_at }: Draft, opens: NonNullable<Draft['opens']>): Promise<boolean> =>
      insertOnce(sessions, {
        _id: session,
        ...opens,
        last_message_preview: previewOf(content),
        created_at,
        updated_at: created_at,
      }),

    /** The most recently updated first. */
    list: ({ skip, limit }: { skip: number; limit: number }): Promise<SessionRecord[]> =>
      sessions.find({ updated_at: { $gt: '' } }, { sort: newest, skip, limit }),

    /** Whether the session takes no further message. */
    isFull: async (session: string): Promise<boolean> => (await lastNumber(session)) >= maxMessages,

    /** Takes in a message. Repeated, it finds what it has stored. */
    async accept({ opens: _opens, ...message }: Draft): Promise<Exchange> {
      const exchange = await place(message);
      await touch(message.session, message.content, message.created_at);
      return exchange;
    },

    /** Exchanges before this one whose answer is still waited for. */
    unanswered: ({ session, number }: Exchange): Promise<Exchange[]> =>
      exchanges.find({ session, number: { $lt: number }, state: 'generating' }, { sort: { number: 1 } }),

    /** Ends the waiting for an answer. */
    supersede: (id: string): Promise<unknown> =>
      exchanges.findOneAndUpdate({ _id: id, state: 'generating' }, { $set: { state: 'superseded' } }),

    /** Whether another message has come after this one. */
    hasNewer: async ({ session, number }: Exchange): Promise<boolean> =>
      (await exchanges.count({ session, number: { $gt: number } })) > 0,

    exchange: (id: string): Promise<Exchange | undefined> => exchanges.get(id),

    /**
     * Replaces the rounds of an exchange, unless they were changed since it was read.
     *
     * @param states in which they may be replaced
     * @returns whether they were
     */
    async putRounds({ _id, revision }: Exchange, rounds: Round[], states: Exchange['state'][]): Promise<boolean> {
      const changed = await exchanges.findOneAndUpdate(
        { _id, revision: revision ?? { $exists: false }, state: { $in: states } },
        { $set: { rounds: JSON.stringify(rounds), revision: (revision ?? 0) + 1 } },
      );
      return changed !== undefined;
    },

    /** Exchanges up to a number, the newest ones, in order. */
    async upTo(session: string, number: number, limit: number): Promise<Exchange[]> {
      const filter = { session, number: { $lte: number } };
      return (await exchanges.find(filter, { sort: { number: -1 }, limit })).reverse();
    },

    /** All exchanges in order. */
    exchanges: (session: string): Promise<Exchange[]> =>
      exchanges.find({ session }, { sort: { number: 1 }, limit: maxMessages }),

    /**
     * Ends an exchange with an answer, or as one that failed. The first end is final.
     *
     * @returns the exchange when it ended like this, now or before
     */
    async end(
      id: string,
      end: { state: 'answered'; answer: NonNullable<Exchange['answer']> } | { state: 'failed' },
    ): Promise<Exchange | undefined> {
      await exchanges.findOneAndUpdate({ _id: id, state: 'generating' }, { $set: end });
      const exchange = await exchanges.get(id);
      if (exchange?.state !== end.state) {
        return undefined;
      }
      if (exchange.answer) {
        await touch(exchange.session, exchange.answer.content, exchange.answer.created_at);
      }
      return exchange;
    },
  };
}

export type SessionStore = Awaited<ReturnType<typeof createSessionStore>>;
