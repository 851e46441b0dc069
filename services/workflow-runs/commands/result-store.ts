import type { Database, Stored } from '../../../stores/port/collection';
import type { CommandResult } from './messages';

interface ResultRecord extends Stored {
  result: CommandResult;
}

const idOf = (runId: string, stageId: string, attempt: number): string => `${runId}/${stageId}/${attempt}`;

/** How programs of stages ended, by their attempts: what has ended is not run again after a crash. */
export async function createCommandResultStore(db: Database) {
  const records = await db.collection<ResultRecord>({ name: 'workflow-run-commands' });
  return {
    async put(
      runId: string,
      stageId: string,
      { attempt, result }: { attempt: number; result: CommandResult },
    ): Promise<void> {
      await records.findOneAndUpdate({ _id: idOf(runId, stageId, attempt) }, { $set: { result } }, { upsert: true });
    },
    get: async (runId: string, stageId: string, attempt: number): Promise<CommandResult | undefined> =>
      (await records.get(idOf(runId, stageId, attempt)))?.result,
  };
}

export type CommandResultStore = Awaited<ReturnType<typeof createCommandResultStore>>;
