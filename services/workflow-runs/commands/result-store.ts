import type { Database, Stored } from '../../../stores/port/collection';
import type { CommandResult } from './messages';

interface ResultRecord extends Stored {
  result: CommandResult;
  /** The program has ended, and its workspace is not committed yet. */
  uncommitted?: boolean;
  updatedAt: string;
}

/** Results disappear so many seconds after their attempt: what a stage came to remains in its run. */
const lifetimeSeconds = 180 * 86_400;

const idOf = (runId: string, stageId: string, attempt: number): string => `${runId}/${stageId}/${attempt}`;

/** How programs of stages ended, by their attempts: what has ended is not run again after a crash. */
export async function createCommandResultStore(db: Database) {
  const records = await db.collection<ResultRecord>({
    name: 'workflow-run-commands',
    expire: { field: 'updatedAt', afterSeconds: lifetimeSeconds },
  });
  return {
    async put(
      runId: string,
      stageId: string,
      { attempt, at, ...fields }: { attempt: number; result: CommandResult; uncommitted: boolean; at: Date },
    ): Promise<void> {
      const update = { $set: { ...fields, updatedAt: at.toISOString() } };
      await records.findOneAndUpdate({ _id: idOf(runId, stageId, attempt) }, update, { upsert: true });
    },
    get: async (
      runId: string,
      stageId: string,
      attempt: number,
    ): Promise<Pick<ResultRecord, 'result' | 'uncommitted'> | undefined> => records.get(idOf(runId, stageId, attempt)),
  };
}

export type CommandResultStore = Awaited<ReturnType<typeof createCommandResultStore>>;
