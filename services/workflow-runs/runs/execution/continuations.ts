import type { Database, Stored } from '../../../../stores/port/collection';
import type { StoredTexts } from './progress-state';

/** Which executions of a run a continuation is for. */
export interface ContinuationKey {
  runId: string;
  /** The version of the record that it goes with. */
  version: number;
  /** The run id of the first execution, which all that continue it have in common. */
  firstExecutionId: string;
}

interface ContinuationRecord extends Stored, StoredTexts, Omit<ContinuationKey, 'runId'> {}

/**
 * What continued executions of runs take over that is too large for a history: per run, that of its latest continuation. Not read
 * from the record of the run, which a workflow task that is repeated has written further.
 */
export async function createContinuationStore(db: Database) {
  const records = await db.collection<ContinuationRecord>({ name: 'workflow-run-continuations' });
  return {
    async put({ runId, ...key }: ContinuationKey, texts: StoredTexts): Promise<void> {
      await records.findOneAndUpdate(
        { _id: runId },
        { $set: { ...key, ...texts, lists: texts.lists ?? {} } },
        { upsert: true },
      );
    },
    /** `undefined` when it is of another version, or for other executions. */
    async get({ runId, version, firstExecutionId }: ContinuationKey): Promise<StoredTexts | undefined> {
      const found = await records.get(runId);
      return found?.version === version && found.firstExecutionId === firstExecutionId
        ? { context: found.context, guidance: found.guidance, ...(found.lists && { lists: found.lists }) }
        : undefined;
    },
    /** Removes what a run that has ended needs no more; nothing when it is removed already. */
    async delete(runId: string): Promise<void> {
      await records.deleteMany({ _id: runId });
    },
  };
}

export type ContinuationStore = Awaited<ReturnType<typeof createContinuationStore>>;
