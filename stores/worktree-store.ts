import type { Filter } from 'mongodb';
import { unsettledStates, type WorktreeManifest } from '../contracts/worktree';
import type { Page, PageRequest } from '../platform/lists/page';
import type { Database } from './collection';
import { DuplicateKeyError } from './errors';
import { findPage } from './find-page';
import { inPages } from './in-pages';

/** The manifest of a task's worktree. Its id is the task's, so that two creations are one. */
export interface WorktreeRecord extends WorktreeManifest {
  _id: string;
  /** `<hostId>:<path>` while the worktree exists: no path belongs to two tasks. */
  allocation: string;
  /** Which directory it is; absent until it was first verified, `null` while it is being made. */
  identity?: { device: string; inode: string; born: string } | null;
}

/** What an operation may change. */
export type WorktreeChange = Partial<Omit<WorktreeRecord, '_id' | 'taskId' | 'revision' | 'createdAt'>>;

/** The most entries of history that are kept. */
const keptHistory = 50;

export async function createWorktreeStore(db: Database) {
  const worktrees = await db.collection<WorktreeRecord>({
    name: 'worktrees',
    indexes: [
      { keys: { allocation: 1 }, unique: true },
      { keys: { state: 1, _id: 1 } },
      { keys: { 'lease.expiresAt': 1, _id: 1 } },
      { keys: { repository: 1, updatedAt: -1 } },
    ],
  });
  const expired = (before: string): Filter<WorktreeRecord> => ({
    'lease.expiresAt': { $lt: before },
    state: { $in: ['ready', 'failed'] },
  });

  return {
    get: (taskId: string) => worktrees.get(taskId),

    /** `undefined` when the task has a manifest already. @throws DuplicateKeyError when the path is another task's */
    async insert(record: WorktreeRecord): Promise<WorktreeRecord | undefined> {
      try {
        await worktrees.insert(record);
        return record;
      } catch (error) {
        if (error instanceof DuplicateKeyError && (await worktrees.get(record._id))) return undefined;
        throw error;
      }
    },

    /**
     * The one way a manifest changes: from exactly the revision that was read; `undefined` when it is another by now.
     *
     * @throws DuplicateKeyError when the path is another task's
     */
    change(read: WorktreeRecord, fields: WorktreeChange, updatedAt: string): Promise<WorktreeRecord | undefined> {
      const history = fields.history ? { history: fields.history.slice(-keptHistory) } : {};
      return worktrees.findOneAndUpdate(
        { _id: read._id, revision: read.revision },
        { $set: { ...fields, ...history, updatedAt }, $inc: { revision: 1 } },
      );
    },

    /** The manifests of a repository, those that changed last first. */
    ofRepository: (repository: string, limit = 1_000) =>
      worktrees.find({ repository }, { sort: { updatedAt: -1 }, limit }),

    /**
     * Every worktree in the middle of an operation, however many there are.
     *
     * @param options.stuck also those that stand still with an error
     */
    async *unsettled({ stuck, pageSize }: { stuck: boolean; pageSize?: number }): AsyncGenerator<WorktreeRecord> {
      for (const state of unsettledStates)
        yield* inPages(worktrees, { state, ...(stuck ? {} : { recoverable: null }) }, pageSize);
    },

    /** Worktrees whose lease has ended before `before`, the oldest first. */
    expired: (before: string, part: PageRequest): Promise<Page<WorktreeRecord>> =>
      findPage(worktrees, expired(before), { key: 'lease.expiresAt', direction: 1 }, part),

    countExpired: (before: string) => worktrees.count(expired(before)),
  };
}

export type WorktreeStore = Awaited<ReturnType<typeof createWorktreeStore>>;

/** The manifest as callers see it. */
export function presentManifest({
  _id,
  allocation: _allocation,
  identity: _identity,
  ...manifest
}: WorktreeRecord): WorktreeManifest {
  return manifest;
}
