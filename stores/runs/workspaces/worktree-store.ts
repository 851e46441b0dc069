import type { Filter } from 'mongodb';
import { statesWithoutFiles, unsettledStates, type WorktreeManifest } from '../../../contracts/runs/worktrees/worktree';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Database } from '../../port/collection';
import { DuplicateKeyError } from '../../port/errors';
import { findPage } from '../../port/find-page';
import { inPages } from '../../port/in-pages';

/** The manifest of a task's worktree. Its id is the task's, so that two creations are one. */
export interface WorktreeRecord extends WorktreeManifest {
  _id: string;
  /** `<hostId>:<path>` while the worktree exists: no path belongs to two tasks. */
  allocation: string;
  /** Which directory it is; absent until it was first verified, `null` while it is being made. */
  identity?: { device: string; inode: string; born: string } | null;
  /** The fence token that was issued last for changing the worktree itself. It is no part of the revision. */
  fence?: { sequence: number; holder: string; stage: number };
}

/**
 * Who may change a worktree: an operation, or the attempt that has its lease, in one of the stages of its life. A stage begins
 * once: a late request of an earlier one is refused.
 */
export type FenceHolder = { operationId: string } | { attemptId: string; stage: keyof typeof fenceStages };

const fenceStages = { prepare: 1, run: 2, reclaim: 3 };

/** What an operation may change. */
export type WorktreeChange = Partial<Omit<WorktreeRecord, '_id' | 'taskId' | 'revision' | 'createdAt' | 'fence'>>;

/** How many tasks one query names. */
const tasksAtOnce = 500;

/** Maximum entries of history that are retained. */
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

  /** What has to be so for `holder` to change the worktree: it is in the middle of the operation, or leased to the attempt. */
  const entitled = (taskId: string, holder: FenceHolder): Filter<WorktreeRecord> =>
    'operationId' in holder
      ? { _id: taskId, 'operation.id': holder.operationId }
      : { _id: taskId, 'lease.ownerAttemptId': holder.attemptId };

  return {
    /**
     * Issues the next fence token of the worktree, higher than every one before, which are invalid from then on.
     *
     * @param above a sequence that was seen on the disk of the worktree, which the stores may have lost
     * @returns `undefined` when the worktree is not, or no more, the holder's
     */
    async handOut(taskId: string, holder: FenceHolder, above = 0): Promise<number | undefined> {
      const [name, stage] =
        'operationId' in holder ? [holder.operationId, 0] : [holder.attemptId, fenceStages[holder.stage]];
      const filter: Filter<WorktreeRecord> = {
        ...entitled(taskId, holder),
        $or: [{ 'fence.holder': { $ne: name } }, { 'fence.stage': { $lte: stage } }],
      };
      if (above > 0 && !(await worktrees.findOneAndUpdate(filter, { $max: { 'fence.sequence': above } }))) {
        return undefined;
      }
      const handed = await worktrees.findOneAndUpdate(filter, {
        $set: { 'fence.holder': name, 'fence.stage': stage },
        $inc: { 'fence.sequence': 1 },
      });
      return handed?.fence?.sequence;
    },

    /** Whether the token with this sequence is the last one issued, and the worktree still the holder's. */
    isLast: async (taskId: string, holder: FenceHolder, sequence: number): Promise<boolean> =>
      (await worktrees.count({ ...entitled(taskId, holder), 'fence.sequence': sequence })) > 0,

    get: (taskId: string) => worktrees.get(taskId),

    /** The worktrees of tasks that have files now, by task. */
    async ofTasks(taskIds: readonly string[]): Promise<Map<string, WorktreeRecord>> {
      const found = new Map<string, WorktreeRecord>();
      for (let start = 0; start < taskIds.length; start += tasksAtOnce) {
        const _id = { $in: taskIds.slice(start, start + tasksAtOnce) };
        for (const record of await worktrees.find({ _id, state: { $nin: statesWithoutFiles } })) {
          found.set(record._id, record);
        }
      }
      return found;
    },

    /** `undefined` when the task has a manifest already. @throws DuplicateKeyError when the path is another task's */
    async insert(record: WorktreeRecord): Promise<WorktreeRecord | undefined> {
      try {
        await worktrees.insert(record);
        return record;
      } catch (error) {
        if (error instanceof DuplicateKeyError && (await worktrees.get(record._id))) {
          return undefined;
        }
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
     * @param options.stuck also those that are stopped with an error
     */
    async *unsettled({ stuck, pageSize }: { stuck: boolean; pageSize?: number }): AsyncGenerator<WorktreeRecord> {
      for (const state of unsettledStates) {
        yield* inPages(worktrees, { state, ...(stuck ? {} : { recoverable: null }) }, pageSize);
      }
    },

    /** Worktrees whose lease has ended before `before`, the oldest first. */
    expired: (before: string, part: PageRequest): Promise<Page<WorktreeRecord>> =>
      findPage(worktrees, { filter: expired(before), order: { key: 'lease.expiresAt', direction: 1 } }, part),

    countExpired: (before: string) => worktrees.count(expired(before)),
  };
}

export type WorktreeStore = Awaited<ReturnType<typeof createWorktreeStore>>;

/** The manifest as callers see it. */
export function presentManifest({
  _id,
  allocation: _allocation,
  identity: _identity,
  fence: _fence,
  ...manifest
}: WorktreeRecord): WorktreeManifest {
  return manifest;
}
