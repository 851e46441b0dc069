import type { Database, Stored } from '../../../stores/port/collection';
import type { RunRecord } from '../runs/run';
import type { Evaluation } from './performance';
import type { ResultInput } from './shapes';

/** What a control found in a run, the latest time it was put to it. */
export interface ResultRecord extends Stored, Evaluation {
  run: string;
  title: string;
  workflow: string;
  control: string;
  timestamp: string;
  recorded_by: string;
}

/** The number of runs that a control's performance is computed from. */
const maxEvaluations = 50;
/** More than there can be controls. */
const maxOfRun = 1_000;

/** One record for each run and control. */
export async function createResultStore(db: Database) {
  const newest = { timestamp: -1, _id: -1 } as const;
  const results = await db.collection<ResultRecord>({
    name: 'verification-results',
    indexes: [{ keys: { control: 1, ...newest } }, { keys: { run: 1, _id: 1 } }],
  });
  return {
    /** Replaces the control's earlier result for the run. */
    async record(
      { _id: run, title, workflow }: RunRecord,
      control: string,
      { result: { status, expected }, by, at }: { result: ResultInput; by: string; at: string },
    ): Promise<void> {
      const found = { run, title, workflow: workflow.slug, control, result: status, timestamp: at, recorded_by: by };
      await results.findOneAndUpdate(
        { _id: `${run}/${control}` },
        { $set: { ...found, ...(expected && { expected }) }, $setOnInsert: { first: status } },
        { upsert: true },
      );
    },

    ofRun: (run: string): Promise<ResultRecord[]> => results.find({ run }, { sort: { _id: 1 }, limit: maxOfRun }),

    /** In the runs it was put to last, the newest first. */
    ofControl: (control: string): Promise<ResultRecord[]> =>
      results.find({ control }, { sort: newest, limit: maxEvaluations }),
  };
}

export type ResultStore = Awaited<ReturnType<typeof createResultStore>>;
