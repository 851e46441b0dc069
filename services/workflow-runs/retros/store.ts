import { compact } from '../../../platform/json/compact';
import type { Database } from '../../../stores/port/collection';
import type { RunRecord, Smoothness } from '../runs/run';

export interface RetroFilter {
  workflow?: string | undefined;
  smoothness?: Smoothness | undefined;
}

/** Runs that have ended, as their retros are queried: through indexes of their own on the records of runs. */
export async function createRetroStore(db: Database) {
  const newest = { retro_at: -1, _id: -1 } as const;
  const runs = await db.collection<RunRecord>({
    name: 'workflow-runs',
    indexes: [
      { keys: newest },
      { keys: { smoothness: 1, ...newest } },
      { keys: { 'workflow.slug': 1, ...newest } },
      { keys: { 'workflow.slug': 1, smoothness: 1, ...newest } },
    ],
  });
  return {
    /** The newest first. */
    list({ workflow, smoothness }: RetroFilter, page: { skip: number; limit: number }): Promise<RunRecord[]> {
      const filter = {
        ...compact({ 'workflow.slug': workflow, smoothness }),
        retro_at: { $gt: '' },
      };
      return runs.find(filter, { sort: newest, ...page });
    },
  };
}
