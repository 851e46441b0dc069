import type { Database } from '../../port/collection';
import { insertOnce } from '../../port/insert';

interface ActiveRun {
  _id: string;
  attemptId: string;
}

/** One active run per task: one document per task, whose insertion is the lock. */
export async function createActiveRunStore(db: Database) {
  const runs = await db.collection<ActiveRun>({ name: 'active-runs' });
  return {
    /** Takes the task for the attempt; returns the attempt that holds it afterwards. */
    async take(taskId: string, attemptId: string): Promise<string> {
      if (await insertOnce(runs, { _id: taskId, attemptId })) {
        return attemptId;
      }
      const holder = await runs.get(taskId);
      return holder?.attemptId ?? this.take(taskId, attemptId);
    },
    async holder(taskId: string): Promise<string | undefined> {
      return (await runs.get(taskId))?.attemptId;
    },
    /** Transfers the task from one attempt to the next atomically: no third attempt can take it in between. */
    handOver: (taskId: string, from: string, to: string) =>
      runs.findOneAndUpdate({ _id: taskId, attemptId: from }, { $set: { attemptId: to } }),
    release: (taskId: string, attemptId: string) => runs.deleteMany({ _id: taskId, attemptId }),
  };
}

export type ActiveRunStore = Awaited<ReturnType<typeof createActiveRunStore>>;
