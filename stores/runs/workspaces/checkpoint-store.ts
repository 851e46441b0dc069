import type { WorkspaceCheckpoint } from '../../../contracts/runs/checkpoint';
import type { Page, PageRequest } from '../../../platform/lists/page';
import type { Database } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { insertOnce } from '../../port/insert';

type CheckpointRecord = Omit<WorkspaceCheckpoint, 'id'> & { _id: string };

/** Checkpoints of worktrees, numbered in each attempt. A record is never changed. */
export async function createCheckpointStore(db: Database) {
  const checkpoints = await db.collection<CheckpointRecord>({
    name: 'workspace-checkpoints',
    indexes: [{ keys: { attemptId: 1, number: 1 }, unique: true }],
  });

  return {
    /** Writes a checkpoint; `false` when its number is taken. */
    add: ({ id, ...checkpoint }: WorkspaceCheckpoint): Promise<boolean> =>
      insertOnce(checkpoints, { _id: id, ...checkpoint }),

    async get(id: string): Promise<WorkspaceCheckpoint | undefined> {
      const record = await checkpoints.get(id);
      return record && present(record);
    },

    async latest(attemptId: string): Promise<WorkspaceCheckpoint | undefined> {
      const [record] = await checkpoints.find({ attemptId }, { sort: { number: -1 }, limit: 1 });
      return record && present(record);
    },

    /** One page after a number, the oldest first. */
    async page(attemptId: string, afterNumber: number, part: PageRequest): Promise<Page<WorkspaceCheckpoint>> {
      const filter = { attemptId, number: { $gt: afterNumber } };
      return (await findPage(checkpoints, { filter, order: { key: 'number', direction: 1, unique: true } }, part)).map(
        present,
      );
    },

    /** The oldest first. */
    async list(attemptId: string, afterNumber: number, limit: number): Promise<WorkspaceCheckpoint[]> {
      const filter = { attemptId, number: { $gt: afterNumber } };
      return (await checkpoints.find(filter, { sort: { number: 1 }, limit })).map(present);
    },
  };
}

export type CheckpointStore = Awaited<ReturnType<typeof createCheckpointStore>>;

const present = ({ _id, ...checkpoint }: CheckpointRecord): WorkspaceCheckpoint => ({ id: _id, ...checkpoint });
