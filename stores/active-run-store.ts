import type { Database } from './collection';
import { insertOnce } from './insert';

interface ActiveRun {
  _id: string;
  attemptId: string;
}

/** At most one active run per task: one document per task, whose insertion is the lock. */
export async function createActiveRunStore(db: Database) {
  const runs = await db.collection<ActiveRun>({ name: 'active-runs' });
  return {
    /** Takes the task for the attempt; returns the attempt that holds it afterwards. */
    async take(taskId: string, attemptId: string): Promise<string> {
      if (await insertOnce(runs, { _id: taskId, attemptId })) return attemptId;
      const holder = await runs.get(taskId);
      return holder?.attemptId ?? this.take(taskId, attemptId);
    },
    async holder(taskId: string): Promise<string | undefined> {
      return (await runs.get(taskId))?.attemptId;
    },
    /** Hands the task from one attempt to the next without a moment in which a third could take it. */
    handOver: (taskId: string, from: string, to: string) =>
      runs.findOneAndUpdate({ _id: taskId, attemptId: from }, { $set: { attemptId: to } }),
    release: (taskId: string, attemptId: string) => runs.deleteMany({ _id: taskId, attemptId }),
  };
}

export type ActiveRunStore = Awaited<ReturnType<typeof createActiveRunStore>>;
