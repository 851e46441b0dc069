import type { WorkspaceRewind } from '../../../contracts/runs/rewind';
import type { Database } from '../../port/collection';
import { insertOrGet } from '../../port/insert';

type RewindRecord = Omit<WorkspaceRewind, 'id'> & { _id: string };

/** Rewinds of worktrees to a checkpoint, requested or done. */
export async function createRewindStore(db: Database) {
  const rewinds = await db.collection<RewindRecord>({
    name: 'workspace-rewinds',
    indexes: [{ keys: { attemptId: 1, createdAt: -1 } }],
  });

  /** The one way a rewind changes: out of a state that is named. */
  const move = async (id: string, from: WorkspaceRewind['state'][], fields: Partial<RewindRecord>) => {
    const changed = await rewinds.findOneAndUpdate({ _id: id, state: { $in: from } }, { $set: fields });
    return changed && present(changed);
  };

  return {
    /** Writes a plan, or returns the first one. */
    add: async ({ id, ...rewind }: WorkspaceRewind): Promise<WorkspaceRewind> =>
      present(await insertOrGet(rewinds, { _id: id, ...rewind })),

    async get(id: string): Promise<WorkspaceRewind | undefined> {
      const record = await rewinds.get(id);
      return record && present(record);
    },

    approve: (id: string, approvalId: string, updatedAt: string) => move(id, ['planned'], { approvalId, updatedAt }),

    /** From here on it is brought to its end, whatever dies. */
    begin: (id: string, updatedAt: string) => move(id, ['planned', 'committing'], { state: 'committing', updatedAt }),

    end: (
      id: string,
      fields: Pick<WorkspaceRewind, 'state' | 'updatedAt'> &
        Partial<Pick<WorkspaceRewind, 'keptRef' | 'checkpointId' | 'leftBehind' | 'error'>>,
    ) => move(id, ['committing'], fields),

    recordDelivery: (id: string, thread: WorkspaceRewind['thread'], updatedAt: string) =>
      move(id, ['committed'], { thread, updatedAt }),
  };
}

export type RewindStore = Awaited<ReturnType<typeof createRewindStore>>;

const present = ({ _id, ...rewind }: RewindRecord): WorkspaceRewind => ({ id: _id, ...rewind });
