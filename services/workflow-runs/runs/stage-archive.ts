import type { Database, Stored } from '../../../stores/port/collection';
import type { RunRecord, Stage } from './run';

/** Stages that have left the record of their run. */
interface StageChunk extends Stored {
  run_id: string;
  /** 0, 1, 2 … */
  number: number;
  stages: Stage[];
}

/** A record is written with every change of a run: beyond this many stages the older ones that have ended leave it. */
const kept = { max: 200, newest: 100 };

const startOf = ({ started_at = '' }: Stage): number => Date.parse(started_at);

/** The older stages of long runs, beside the records of these runs. */
export async function createStageArchive(db: Database) {
  const chunks = await db.collection<StageChunk>({
    name: 'workflow-run-stages',
    indexes: [{ keys: { run_id: 1, number: 1 } }],
  });

  return {
    /** Stores the older ones of a run's stages when they are many; returns what of the record changes. Repeatable. */
    async trim(
      { _id: run_id, archived = 0 }: Pick<RunRecord, '_id' | 'archived'>,
      stages: Stage[],
    ): Promise<Pick<RunRecord, 'stages' | 'archived'>> {
      if (stages.length <= kept.max) {
        return { stages };
      }
      const older = stages.slice(0, -kept.newest);
      const ended = older.filter(({ status }) => status !== 'running');
      if (ended.length === 0) {
        return { stages };
      }
      const chunk = { run_id, number: archived, stages: ended };
      await chunks.findOneAndUpdate({ _id: `${run_id}/${archived}` }, { $set: chunk }, { upsert: true });
      const underWay = older.filter(({ status }) => status === 'running');
      return { stages: [...underWay, ...stages.slice(-kept.newest)], archived: archived + 1 };
    },

    /** Removes the older stages of a run. */
    async remove(runId: string): Promise<void> {
      await chunks.deleteMany({ run_id: runId });
    },

    /** The run with all of its stages, in the order of their start. */
    whole: async (run: RunRecord): Promise<RunRecord> => {
      if (run.archived === undefined) {
        return run;
      }
      const older = await chunks.find({ run_id: run._id, number: { $lt: run.archived } }, { sort: { number: 1 } });
      const stages = [...older.flatMap((chunk) => chunk.stages), ...run.stages];
      // One that was under way for long stayed in the record while later ones left it.
      return { ...run, stages: stages.sort((a, b) => startOf(a) - startOf(b)) };
    },
  };
}
