import type { Filter } from 'mongodb';
import type { SquadHit, SquadMessage, SquadQuery, SquadSearchQuery, SquadUnread } from '../../contracts/chat/squad';
import { compact } from '../../platform/json/compact';
import { Page, type PageRequest } from '../../platform/lists/page';
import { searchPage } from '../../platform/lists/search';
import { createRedactor } from '../../platform/log/redact';
import { operationTime } from '../../platform/operations/operation';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';
import { createSequencer, type Sequenced } from '../port/sequencer';
import { snippetOf } from '../port/snippet';

/** A stored message; its replies are counted when it is read. */
export type SquadRecord = Sequenced & Omit<SquadMessage, 'id' | 'replyCount'>;

export type NewSquadMessage = Omit<SquadRecord, 'sequence'>;

/** Up to which message an actor has read. */
interface ReadPosition extends Stored {
  sequence: number;
  messageId: string;
  at: string;
}

/** Reactions to one message. */
export const maxReactions = 200;
/** Messages that one request of a search looks through. */
const maxSearched = 5_000;

const newestFirst = { key: 'sequence', direction: -1, unique: true } as const;
const oldestFirst = { ...newestFirst, direction: 1 } as const;

/** The squad's messages, in one order over all processes (specification 1, Chat and squad). */
export async function createSquadStore(db: Database, now: () => Date = operationTime) {
  const messages = await db.collection<SquadRecord>({
    name: 'squad-messages',
    indexes: [
      { keys: { sequence: 1 }, unique: true },
      { keys: { system: 1, sequence: -1 } },
      { keys: { agent: 1, sequence: -1 } },
      { keys: { threadId: 1, sequence: 1 } },
    ],
  });
  const positions = await db.collection<ReadPosition>({ name: 'squad-reads' });
  const sequencer = createSequencer(messages);
  const redact = createRedactor();

  async function present(records: SquadRecord[]): Promise<SquadMessage[]> {
    if (records.length === 0) {
      return [];
    }
    const counts = await messages.aggregate([
      { $match: { threadId: { $in: records.map(({ _id }) => _id) } } },
      { $group: { _id: '$threadId', count: { $sum: 1 } } },
    ]);
    const replies = new Map(counts.map(({ _id, count }) => [String(_id), Number(count)]));
    return records.map(({ _id, sequence: _s, ...message }) => {
      return { id: _id, ...message, replyCount: replies.get(_id) ?? 0 };
    });
  }

  const one = async (record: SquadRecord | undefined): Promise<SquadMessage | undefined> =>
    record && (await present([record]))[0];

  return {
    get: (id: string): Promise<SquadRecord | undefined> => messages.get(id),

    /** Adds a message after all there are. */
    async add(message: NewSquadMessage): Promise<SquadMessage> {
      const { _id, sequence: _s, ...fields } = await sequencer.append((sequence) => ({ ...message, sequence }));
      return { id: _id, ...fields, replyCount: 0 };
    },

    /** The newest ones, the oldest of them first; the next page holds older ones. */
    async list({ agent, since, includeSystem, ...part }: SquadQuery): Promise<Page<SquadMessage>> {
      const filter: Filter<SquadRecord> = {
        sequence: { $gte: 1 },
        ...compact({ agent }),
        ...(includeSystem ? {} : { system: false }),
        ...(since === undefined ? {} : { timestamp: { $gt: new Date(since).toISOString() } }),
      };
      const { items, next } = await findPage(messages, { filter, order: newestFirst }, part);
      return new Page(await present(items.reverse()), next);
    },

    /** The message that began a thread, and its replies in their order; later pages hold replies only. */
    async thread(rootId: string, part: PageRequest): Promise<Page<SquadMessage>> {
      const root = part.cursor ? undefined : await messages.get(rootId);
      // A limit of one leaves no reply, and the replies begin after the root.
      const limit = part.limit - (root ? 1 : 0);
      const { items, next } = await findPage(
        messages,
        { filter: { threadId: rootId }, order: oldestFirst },
        { ...part, limit },
      );
      const shown = root ? [root, ...items] : items;
      const begun = root && limit === 0 && (await messages.count({ threadId: rootId })) > 0;
      return new Page(await present(shown), begun ? { key: root.sequence, id: root._id } : next);
    },

    /**
     * Matches of a text among the messages, the newest first, 5,000 messages at a time. The redacted text is searched: guesses
     * at a secret reveal nothing.
     */
    search({ q, ...part }: SquadSearchQuery): Promise<Page<SquadHit>> {
      const hitOf = ({ _id, agent, timestamp, threadId, message }: SquadRecord): SquadHit | undefined => {
        const snippet = snippetOf(redact(message), q);
        if (snippet === undefined) {
          return undefined;
        }
        return { id: _id, agent, timestamp, ...compact({ threadId }), snippet };
      };
      const read = (of: PageRequest) =>
        findPage(messages, { filter: { sequence: { $gte: 1 } }, order: newestFirst }, of);
      const positionOf = ({ _id, sequence }: SquadRecord) => ({ key: sequence, id: _id });
      return searchPage({ read, hitOf, positionOf, most: maxSearched }, part);
    },

    /** What an actor has not read of others' messages. */
    async unread(actor: string): Promise<SquadUnread> {
      const position = await positions.get(actor);
      const filter: Filter<SquadRecord> = { sequence: { $gt: position?.sequence ?? 0 }, agent: { $ne: actor } };
      const [unreadCount, mentionCount, [latest]] = await Promise.all([
        messages.count(filter),
        messages.count({ ...filter, mentions: { $elemMatch: { target: actor } } }),
        messages.find(filter, { sort: { sequence: -1 }, limit: 1 }),
      ]);
      return {
        actor,
        ...(position && { lastReadAt: position.at, lastReadMessageId: position.messageId }),
        unreadCount,
        mentionCount,
        ...(latest && { latestUnreadMessageId: latest._id }),
      };
    },

    /** Records that an actor has read everything up to a message. It never goes back. */
    async markRead(actor: string, { _id: messageId, sequence }: SquadRecord): Promise<ReadPosition> {
      const position: ReadPosition = { _id: actor, sequence, messageId, at: now().toISOString() };
      if (await insertOnce(positions, position)) {
        return position;
      }
      const set = { sequence, messageId, at: position.at };
      const moved = await positions.findOneAndUpdate({ _id: actor, sequence: { $lt: sequence } }, { $set: set });
      return moved ?? (await positions.get(actor)) ?? position;
    },

    /** Sets the marks passed; `undefined` when there is no such message. */
    async pin(id: string, marks: { pinned?: boolean; decision?: boolean }): Promise<SquadMessage | undefined> {
      return one(await messages.findOneAndUpdate({ _id: id }, { $set: marks }));
    },

    /**
     * Adds a reaction, as one step of the store, so that none of several at once is lost. The same one again changes
     * nothing. `undefined` when there is no such message, or it has as many reactions as it may.
     */
    async react(id: string, actor: string, reaction: string): Promise<SquadMessage | undefined> {
      const mine = { $elemMatch: { actor, reaction } };
      const filter = {
        _id: id,
        reactions: { $not: mine },
        [`reactions.${maxReactions - 1}`]: { $exists: false },
      } as Filter<SquadRecord>;
      const added = { actor, reaction, createdAt: now().toISOString() };
      const changed = await messages.findOneAndUpdate(filter, { $push: { reactions: added } });
      if (changed) {
        return one(changed);
      }
      const existing = await messages.get(id);
      return one(
        existing?.reactions.some((each) => each.actor === actor && each.reaction === reaction) ? existing : undefined,
      );
    },
  };
}

export type SquadStore = Awaited<ReturnType<typeof createSquadStore>>;
