import type { Database, Stored } from '../../../../stores/port/collection';
import type { StoredTexts } from './progress';

interface ContinuationRecord extends Stored, StoredTexts {
  version: number;
}

/**
 * What continued executions of runs take over that is too large for a history: per run, that of its latest continuation. Not read
 * from the record of the run, which a workflow task that is repeated has written further.
 */
export async function createContinuationStore(db: Database) {
  const records = await db.collection<ContinuationRecord>({ name: 'workflow-run-continuations' });
  return {
    async put(runId: string, version: number, texts: StoredTexts): Promise<void> {
      await records.findOneAndUpdate({ _id: runId }, { $set: { version, ...texts } }, { upsert: true });
    },
    /** `undefined` when it is of another version. */
    async get(runId: string, version: number): Promise<StoredTexts | undefined> {
      const found = await records.get(runId);
      return found?.version === version ? { context: found.context, guidance: found.guidance } : undefined;
    },
  };
}

export type ContinuationStore = Awaited<ReturnType<typeof createContinuationStore>>;
