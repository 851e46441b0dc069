import type { RunRecovery } from '../contracts/recovery';
import type { Database } from './collection';

type RecoveryRecord = RunRecovery & { _id: string };

/** `run-recovery/v1` records, one for each attempt that ended without success and may be followed by another. */
export async function createRecoveryStore(db: Database) {
  const records = await db.collection<RecoveryRecord>({
    name: 'run-recoveries',
    indexes: [{ keys: { taskId: 1, createdAt: -1 } }],
  });
  return {
    /** Writes the record of `attemptId` once; a repeated call changes nothing and returns what stands. */
    async schedule(record: RunRecovery): Promise<RunRecovery> {
      const { revision: _revision, ...fields } = record;
      const stored = await records.findOneAndUpdate(
        { _id: record.attemptId },
        { $setOnInsert: { ...fields, revision: 1 } },
        { upsert: true },
      );
      return stored ? present(stored) : record;
    },
    launched: (attemptId: string, updatedAt: string) =>
      records.findOneAndUpdate(
        { _id: attemptId, state: 'scheduled' },
        { $set: { state: 'launched', updatedAt }, $inc: { revision: 1 } },
      ),
    async latest(taskId: string): Promise<RunRecovery | undefined> {
      const [found] = await records.find({ taskId }, { sort: { createdAt: -1 }, limit: 1 });
      return found ? present(found) : undefined;
    },
  };
}

export type RecoveryStore = Awaited<ReturnType<typeof createRecoveryStore>>;

function present({ _id, ...record }: RecoveryRecord): RunRecovery {
  return record;
}
