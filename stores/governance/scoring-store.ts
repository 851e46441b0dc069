import type { Filter } from 'mongodb';
import type { ScoringEvaluation, ScoringHistoryQuery, ScoringProfileFields } from '../../contracts/governance/scoring';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import { between } from '../port/between';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { findPage } from '../port/find-page';

type EvaluationRecord = Stored & Omit<ScoringEvaluation, 'id'>;

/** Scores are retained as long as the telemetry that they are compared with. */
const keptSeconds = 90 * 86_400;

const present = ({ _id, ...evaluation }: EvaluationRecord): ScoringEvaluation => ({ id: _id, ...evaluation });

/** How work is scored, and how it was (specification 2, Policies and governance). */
export async function createScoringStore(db: Database) {
  const newest = { evaluatedAt: -1, _id: -1 } as const;
  const evaluations = await db.collection<EvaluationRecord>({
    name: 'scoring-evaluations',
    indexes: [
      { keys: { taskId: 1, ...newest } },
      { keys: { agent: 1, ...newest } },
      { keys: { profileId: 1, ...newest } },
      { keys: newest },
    ],
    expire: { field: 'evaluatedAt', afterSeconds: keptSeconds },
  });

  return {
    profiles: await createConfiguredRecords<ScoringProfileFields>(db, 'scoring-profiles'),

    async add({ id, ...evaluation }: ScoringEvaluation): Promise<void> {
      await evaluations.insert({ _id: id, ...evaluation });
    },

    /** The newest first. */
    async history(query: ScoringHistoryQuery): Promise<Page<ScoringEvaluation>> {
      const { since, until, limit, cursor, offset, ...equal } = query;
      const filter = compact({
        ...equal,
        evaluatedAt: between(since ?? '', until),
      }) as Filter<EvaluationRecord>;
      const part = { limit, cursor, offset };
      return (await findPage(evaluations, { filter, order: { key: 'evaluatedAt', direction: -1 } }, part)).map(present);
    },
  };
}
