import type { Database, Stored } from '../../../stores/port/collection';
import type { RunCheckpoint } from './run';

interface CheckpointRecord extends Stored {
  run_id: string;
  /** Grows with every checkpoint of a run. */
  order: number;
  checkpoint: RunCheckpoint;
}

/** So many of a run are stored at least: each holds its values. */
export const maxCheckpoints = 20;
/** More than one update of a run has. */
const ofUpdate = 100;
/** Older ones are removed with every so many updates. */
const updatesBetweenTrims = 10;

/** The latest checkpoints of runs, each under its id. */
export async function createCheckpointStore(db: Database) {
  const checkpoints = await db.collection<CheckpointRecord>({
    name: 'workflow-run-checkpoints',
    indexes: [{ keys: { run_id: 1, order: 1 } }],
  });

  async function trim(run_id: string): Promise<void> {
    const [newest] = await checkpoints.find({ run_id }, { sort: { order: -1 }, skip: maxCheckpoints, limit: 1 });
    if (newest) {
      await checkpoints.deleteMany({ run_id, order: { $lte: newest.order } });
    }
  }

  return {
    /**
     * Stores what an update of a run has reported. Repeatable, also with another content by a workflow task that is repeated: what
     * its first try had reported is removed.
     *
     * @param update.isRepeated whether the update, or a later one, may have been stored before
     */
    async put(
      run_id: string,
      { version, isRepeated }: { version: number; isRepeated: boolean },
      reported: readonly (RunCheckpoint & { id: string })[],
    ): Promise<void> {
      if (isRepeated) {
        await checkpoints.deleteMany({ run_id, order: { $gte: version * ofUpdate } });
      }
      for (const [at, checkpoint] of reported.slice(-maxCheckpoints).entries()) {
        const record = { run_id, order: version * ofUpdate + at, checkpoint };
        await checkpoints.findOneAndUpdate({ _id: `${run_id}/${checkpoint.id}` }, { $set: record }, { upsert: true });
      }
      if (version % updatesBetweenTrims === 0) {
        await trim(run_id);
      }
    },

    get: async (run_id: string, id: string): Promise<RunCheckpoint | undefined> =>
      (await checkpoints.get(`${run_id}/${id}`))?.checkpoint,
  };
}

export type CheckpointStore = Awaited<ReturnType<typeof createCheckpointStore>>;
