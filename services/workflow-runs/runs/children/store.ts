import { ulid } from 'ulid';
import type { Database, Stored } from '../../../../stores/port/collection';
import { insertOrGet } from '../../../../stores/port/insert';

interface ChildRecord extends Stored {
  run_id: string;
}

interface UsageRecord extends Stored {
  budget_run: string;
  tokens: number;
  cost: number;
}

export interface Used {
  tokens: number;
  cost: number;
}

/** Which child run each attempt of a stage has, and what the runs of a tree have used. */
export async function createChildRunStore(db: Database) {
  const children = await db.collection<ChildRecord>({ name: 'workflow-run-children' });
  const usage = await db.collection<UsageRecord>({
    name: 'workflow-run-tree-usage',
    indexes: [{ keys: { budget_run: 1 } }],
  });
  return {
    /** The id of the child run of an attempt of a stage: one that is repeated has the same. */
    async idOf(attempt: { runId: string; stageId: string; attempt: number }, at: Date): Promise<string> {
      const _id = `${attempt.runId}/${attempt.stageId}/${attempt.attempt}`;
      return (await insertOrGet(children, { _id, run_id: ulid(at.getTime()) })).run_id;
    },

    /** Stores what a run has used until now, for each budget that covers it. Repeatable. */
    async putUsage(runId: string, { budgets, tokens, cost }: Used & { budgets: readonly string[] }): Promise<void> {
      for (const budget_run of budgets) {
        const $set = { budget_run, tokens, cost };
        await usage.findOneAndUpdate({ _id: `${budget_run}/${runId}` }, { $set }, { upsert: true });
      }
    },

    /** What all runs have used together that the budget of a run covers. */
    async usageOf(budget_run: string): Promise<Used> {
      const used = await usage.find({ budget_run });
      return {
        tokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
        cost: used.reduce((sum, { cost }) => sum + cost, 0),
      };
    },
  };
}

export type ChildRunStore = Awaited<ReturnType<typeof createChildRunStore>>;
