import { maxReviewDecisions, type ReviewDecision } from '../../contracts/tasks/review';
import type { Database } from '../port/collection';
import { insertOrGet } from '../port/insert';

type Document = Omit<ReviewDecision, 'id'> & { _id: string };

const present = ({ _id, ...decision }: Document): ReviewDecision => ({ id: _id, ...decision });

/** What was decided about the results of runs: a log, in which no entry changes. The task shows the review that is open. */
export async function createReviewStore(db: Database) {
  const decisions = await db.collection<Document>({
    name: 'review-decisions',
    indexes: [{ keys: { taskId: 1, at: -1, _id: -1 } }],
  });
  return {
    /** Records a decision, or returns the one that has its id already: the first one stands. */
    record: async ({ id, ...decision }: ReviewDecision): Promise<ReviewDecision> =>
      present(await insertOrGet(decisions, { _id: id, ...decision })),

    async get(id: string): Promise<ReviewDecision | undefined> {
      const decision = await decisions.get(id);
      return decision && present(decision);
    },

    /** The newest first. */
    async ofTask(taskId: string): Promise<ReviewDecision[]> {
      const sort = { at: -1, _id: -1 } as const;
      return (await decisions.find({ taskId }, { sort, limit: maxReviewDecisions })).map(present);
    },
  };
}

export type ReviewStore = Awaited<ReturnType<typeof createReviewStore>>;
