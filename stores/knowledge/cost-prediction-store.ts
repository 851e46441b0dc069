import type { CostPrediction } from '../../contracts/knowledge/cost-prediction';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';

export interface KeptPrediction {
  taskId: string;
  predictedCost: number;
  confidence: CostPrediction['confidence'];
  predictedAt: string;
}

type PredictionRecord = Stored & Omit<KeptPrediction, 'taskId'>;

/** How many of the newest predictions are compared with what came of them. */
export const comparedPredictions = 2_000;

/** The last prediction for each task (specification 1, Registries and analysis). */
export async function createCostPredictionStore(db: Database) {
  const newest = { predictedAt: -1, _id: -1 } as const;
  const records = await db.collection<PredictionRecord>({ name: 'cost-predictions', indexes: [{ keys: newest }] });

  return {
    /** A later prediction for the same task replaces an earlier one. */
    async keep({ taskId, ...prediction }: KeptPrediction): Promise<void> {
      await records.findOneAndUpdate({ _id: taskId }, { $set: prediction }, { upsert: true });
    },

    /** The newest first. */
    async list(part: PageRequest): Promise<Page<KeptPrediction>> {
      const page = await findPage(
        records,
        { filter: { predictedAt: { $gt: '' } }, order: { key: 'predictedAt', direction: -1 } },
        part,
      );
      return page.map(({ _id, ...prediction }) => ({ taskId: _id, ...prediction }));
    },

    /** The newest first, up to {@link comparedPredictions}. */
    async newest(): Promise<KeptPrediction[]> {
      const predictions = await records.find(
        { predictedAt: { $gt: '' } },
        { sort: newest, limit: comparedPredictions },
      );
      return predictions.map(({ _id, ...prediction }) => ({ taskId: _id, ...prediction }));
    },
  };
}
