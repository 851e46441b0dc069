import { createHash } from 'node:crypto';
import type { Filter } from 'mongodb';
import { type LineComment, type LineCommentQuery, maxLineComments } from '../../contracts/tasks/line-comment';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import { operationTime } from '../../platform/operations/operation';
import type { Database } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertWithin } from '../port/insert';

/** A comment, and the review that it is reserved for while its launch is under way. */
export interface LineCommentRecord extends Omit<LineComment, 'id'> {
  _id: string;
  sendId?: string;
}

/** The id of a comment that another system has: it is stored once, however often it is imported. */
export function importedLineCommentId(taskId: string, source: { name: string; id: string }): string {
  const named = createHash('sha256').update(`${taskId}\n${source.name}\n${source.id}`).digest('hex');
  return `linecomment_${named.slice(0, 12)}`;
}

/** Comments on lines of the files that tasks change. */
export async function createLineCommentStore(db: Database, now = operationTime) {
  const oldest = { createdAt: 1, _id: 1 } as const;
  const comments = await db.collection<LineCommentRecord>({
    name: 'line-comments',
    indexes: [
      { keys: { taskId: 1, ...oldest } },
      { keys: { taskId: 1, state: 1, ...oldest } },
      { keys: { taskId: 1, path: 1, ...oldest } },
      { keys: { taskId: 1, 'sent.attemptId': 1, ...oldest } },
      { keys: { taskId: 1, sendId: 1, ...oldest } },
    ],
  });
  const all = async (filter: Filter<LineCommentRecord>): Promise<LineCommentRecord[]> =>
    comments.find(filter, { sort: oldest, limit: maxLineComments });

  return {
    /** Stores a comment, or returns the one that has its id already; `undefined` when the task has as many as it may. */
    async add({ id, ...comment }: LineComment): Promise<LineComment | undefined> {
      const record: LineCommentRecord = { _id: id, ...comment };
      const bound = { among: { taskId: comment.taskId }, max: maxLineComments };
      return (await insertWithin(comments, record, bound)) ? present((await comments.get(id)) ?? record) : undefined;
    },

    count: (taskId: string): Promise<number> => comments.count({ taskId }),

    async get(taskId: string, id: string): Promise<LineComment | undefined> {
      const record = await comments.get(id);
      return record?.taskId === taskId ? present(record) : undefined;
    },

    /** The oldest first. */
    async page(taskId: string, { sentTo, limit, cursor, ...filter }: LineCommentQuery): Promise<Page<LineComment>> {
      // A path of the index that the type of a filter does not name.
      const matching = compact({ taskId, ...filter, 'sent.attemptId': sentTo }) as Filter<LineCommentRecord>;
      const order = { key: 'createdAt', direction: 1 } as const;
      return (await findPage(comments, { filter: matching, order }, { limit, cursor })).map(present);
    },

    /** The comments that no agent was sent yet, the oldest first. */
    open: async (taskId: string): Promise<LineComment[]> => (await all({ taskId, state: 'open' })).map(present),

    /** Changes a comment from exactly the revision that was read; `undefined` when it is another by now. */
    async change(
      { id, revision }: LineComment,
      fields: Partial<Pick<LineComment, 'body' | 'state'>> & { updatedBy: string },
    ): Promise<LineComment | undefined> {
      const changed = await comments.findOneAndUpdate(
        { _id: id, revision },
        { $set: { ...fields, updatedAt: now().toISOString() }, $unset: { sendId: '' }, $inc: { revision: 1 } },
      );
      return changed && present(changed);
    },

    /** Whether there was one, at this revision where one is given. */
    remove: async (taskId: string, id: string, revision?: number): Promise<boolean> =>
      (await comments.deleteMany({ _id: id, taskId, ...compact({ revision }) })) > 0,

    /** The comments that an attempt was sent, the oldest first. */
    sentTo: async (taskId: string, attemptId: string): Promise<LineComment[]> =>
      (await all({ taskId, 'sent.attemptId': attemptId })).map(present),

    /**
     * Marks open comments as sent to the agent of an attempt; those that are sent or resolved stay as they are.
     *
     * @returns the comments that this attempt was sent, of those that were named
     */
    async markSent(
      taskId: string,
      ids: readonly string[],
      { attemptId, by }: { attemptId: string; by: string },
    ): Promise<LineComment[]> {
      const at = now().toISOString();
      await comments.updateMany(
        { _id: { $in: [...ids] }, taskId, state: 'open' },
        {
          $set: { state: 'sent', sent: { attemptId, at, by }, updatedAt: at, updatedBy: by },
          $unset: { sendId: '' },
          $inc: { revision: 1 },
        },
      );
      const sent = await all({ taskId, 'sent.attemptId': attemptId });
      return sent.filter(({ _id }) => ids.includes(_id)).map(present);
    },

    /** Reserves open comments for a review that is about to be sent. @returns those that are reserved for it now */
    async reserve(taskId: string, ids: readonly string[], sendId: string): Promise<LineComment[]> {
      await comments.updateMany({ _id: { $in: [...ids] }, taskId, state: 'open' }, { $set: { sendId } });
      return (await all({ taskId, sendId })).map(present);
    },

    /** The comments that are reserved for a review. */
    reserved: async (taskId: string, sendId: string): Promise<LineComment[]> =>
      (await all({ taskId, sendId })).map(present),

    /** The reviews whose launch is under way, or was interrupted before its comments were marked. */
    async pendingSends(taskId: string): Promise<string[]> {
      const reserved = await all({ taskId, sendId: { $gt: '' } });
      return [...new Set(reserved.flatMap(({ sendId }) => sendId ?? []))];
    },

    /** Gives the comments of a review back, whose launch was refused. */
    release: (taskId: string, sendId: string): Promise<number> =>
      comments.updateMany({ taskId, sendId }, { $unset: { sendId: '' } }),
  };
}

export type LineCommentStore = Awaited<ReturnType<typeof createLineCommentStore>>;

const present = ({ _id, sendId: _sendId, ...comment }: LineCommentRecord): LineComment => ({ id: _id, ...comment });
