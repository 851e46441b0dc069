import { compact } from '../../../platform/json/compact';
import type { Database, Stored } from '../../../stores/port/collection';
import type { RunRecord } from './run';

interface WorkflowRecord extends Stored {
  slug: string;
  name: string;
  /** Of its latest graph. */
  goal?: string;
  /** Its latest run, and when that was queued. */
  run_id: string;
  ran_at: string;
  dot_source: string;
}

/** The workflows that have been run, each with its latest run. */
export async function createWorkflowStore(db: Database) {
  const workflows = await db.collection<WorkflowRecord>({ name: 'workflows' });
  return {
    /** Takes note of a run; an older one changes nothing. */
    async note({ _id, workflow: { slug, name }, goal, created_at, dot_source }: RunRecord): Promise<void> {
      const latest = { slug, name, run_id: _id, ran_at: created_at, dot_source, ...compact({ goal }) };
      const unset = goal === undefined ? { $unset: { goal: '' as const } } : {};
      const update = (): Promise<WorkflowRecord | undefined> =>
        workflows.findOneAndUpdate({ _id: slug, run_id: { $lt: _id } }, { $set: latest, ...unset });
      // Most workflows have run before.
      if (!(await update())) {
        await workflows.findOneAndUpdate({ _id: slug }, { $setOnInsert: latest }, { upsert: true });
        await update();
      }
    },
    get: (slug: string): Promise<WorkflowRecord | undefined> => workflows.get(slug),
    /** By slug. */
    list: ({ skip, limit }: { skip: number; limit: number }): Promise<WorkflowRecord[]> =>
      workflows.find({ _id: { $gt: '' } }, { sort: { _id: 1 }, skip, limit }),
  };
}

export type WorkflowStore = Awaited<ReturnType<typeof createWorkflowStore>>;
