import { type AcceptedReview, maxReviewDecisions, type ReviewDecision } from '../../contracts/tasks/review';
import type { Database } from '../port/collection';
import { inPages } from '../port/in-pages';
import { insertOnce, insertOrGet } from '../port/insert';

type Document = Omit<ReviewDecision, 'id'> & { _id: string };

const present = ({ _id, ...decision }: Document): ReviewDecision => ({ id: _id, ...decision });

/** An acceptance that has begun, until its task is done or its review open again. */
export interface UnfinishedAcceptance {
  /** The decision. */
  _id: string;
  taskId: string;
  state: 'accepting' | 'awaiting-merge';
  accepted: AcceptedReview;
}

/**
 * What was decided about the results of runs: a log, in which no entry changes; and the acceptances that are not finished. The
 * task shows the review that is open.
 */
export async function createReviewStore(db: Database) {
  const decisions = await db.collection<Document>({
    name: 'review-decisions',
    indexes: [{ keys: { taskId: 1, at: -1, _id: -1 } }],
  });
  const acceptances = await db.collection<UnfinishedAcceptance>({
    name: 'review-acceptances',
    indexes: [{ keys: { taskId: 1 } }],
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

    unfinished: {
      /** Records an acceptance before the task shows it, once. */
      async begin(accepted: AcceptedReview): Promise<void> {
        const { decisionId: _id, taskId } = accepted;
        await insertOnce<UnfinishedAcceptance>(acceptances, { _id, taskId, state: 'accepting', accepted });
      },

      get: (decisionId: string): Promise<UnfinishedAcceptance | undefined> => acceptances.get(decisionId),

      ofTask: (taskId: string): Promise<UnfinishedAcceptance[]> => acceptances.find({ taskId }),

      /** Every one, read in pages. */
      all: (pageSize?: number): AsyncGenerator<UnfinishedAcceptance> => inPages(acceptances, {}, pageSize),

      /** Its pull request is made, and waits to be merged. */
      async awaitMerge(decisionId: string): Promise<void> {
        await acceptances.findOneAndUpdate({ _id: decisionId }, { $set: { state: 'awaiting-merge' } });
      },

      async end(decisionId: string): Promise<void> {
        await acceptances.deleteMany({ _id: decisionId });
      },
    },
  };
}

export type ReviewStore = Awaited<ReturnType<typeof createReviewStore>>;
