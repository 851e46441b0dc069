import type { Database, Stored } from '../../../stores/port/collection';
import type { CommandResult } from './messages';

interface ResultRecord extends Stored {
  result: CommandResult;
  /** The program has ended, and its workspace is not committed yet. */
  uncommitted?: boolean;
}

const idOf = (runId: string, stageId: string, attempt: number): string => `${runId}/${stageId}/${attempt}`;

/** How programs of stages ended, by their attempts: what has ended is not run again after a crash. */
export async function createCommandResultStore(db: Database) {
  const records = await db.collection<ResultRecord>({ name: 'workflow-run-commands' });
  return {
    async put(
      runId: string,
      stageId: string,
      { attempt, ...fields }: { attempt: number; result: CommandResult; uncommitted: boolean },
    ): Promise<void> {
      await records.findOneAndUpdate({ _id: idOf(runId, stageId, attempt) }, { $set: fields }, { upsert: true });
    },
    get: async (
      runId: string,
      stageId: string,
      attempt: number,
    ): Promise<Pick<ResultRecord, 'result' | 'uncommitted'> | undefined> => records.get(idOf(runId, stageId, attempt)),
  };
}

export type CommandResultStore = Awaited<ReturnType<typeof createCommandResultStore>>;
