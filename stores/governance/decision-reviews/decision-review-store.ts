import type { DecisionReviewQuery, ReviewAnswer } from '../../../contracts/governance/decision-review';
import type { ReviewRecord, ReviewWork } from '../../../domain/decision-reviews/record';
import { AppError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { Page } from '../../../platform/lists/page';
import type { Database, Stored } from '../../port/collection';
import { findPage } from '../../port/find-page';
import { inPages } from '../../port/in-pages';
import { insertOrGet } from '../../port/insert';

type Document = Stored & Omit<ReviewRecord, 'id'>;

/** The text of an answer: written before the review counts it, and nothing without a review that does. */
interface TextDocument extends Stored {
  reviewId: string;
  text: string;
  usage?: ReviewAnswer['usage'];
}

/** The text of an answer, and what a model has used for it. */
export interface AnswerText {
  id: string;
  reviewId: string;
  text: string;
  usage?: ReviewAnswer['usage'];
}

const present = ({ _id, ...fields }: Document): ReviewRecord => ({ id: _id, ...fields });
const newest = { createdAt: -1, _id: -1 } as const;

/** Ten participants at a time do not stay in each other's way for longer than this. */
const maxTries = 100;
/** Kinds of work, all of which are due. */
const works: readonly ReviewWork[] = ['ask', 'draft', 'decide'];

/** Decision reviews. What a review counts is decided by one compare-and-set of its record. */
export async function createDecisionReviewStore(db: Database) {
  const reviews = await db.collection<Document>({
    name: 'decision-reviews',
    indexes: [
      { keys: { taskId: 1, ...newest } },
      { keys: { state: 1, ...newest } },
      { keys: { work: 1, _id: 1 } },
      { keys: newest },
    ],
  });
  const texts = await db.collection<TextDocument>({
    name: 'decision-review-texts',
    indexes: [{ keys: { reviewId: 1 } }],
  });

  return {
    /** Records a review, or returns the one that has its id already. */
    async open({ id, ...fields }: ReviewRecord): Promise<ReviewRecord> {
      return present(await insertOrGet(reviews, { _id: id, ...fields }));
    },

    async get(id: string): Promise<ReviewRecord | undefined> {
      const record = await reviews.get(id);
      return record && present(record);
    },

    /** The newest first. */
    async list({ taskId, state, ...part }: DecisionReviewQuery): Promise<Page<ReviewRecord>> {
      const filter = { ...compact({ taskId, state }), createdAt: { $gt: '' } };
      return (await findPage(reviews, { filter, order: { key: 'createdAt', direction: -1 } }, part)).map(present);
    },

    /** How many reviews are not over. */
    countOpen: (): Promise<number> => reviews.count({ state: { $in: ['collecting', 'critiquing'] } }),

    /** Writes the text of an answer; the first one under an id stands. */
    async writeText({ id, reviewId, text, usage }: AnswerText): Promise<void> {
      await insertOrGet(texts, { _id: id, reviewId, text, ...compact({ usage }) });
    },

    /** The text under an id, also before a review counts it. */
    async readText(id: string): Promise<AnswerText | undefined> {
      const stored = await texts.get(id);
      return stored && { id, reviewId: stored.reviewId, text: stored.text, usage: stored.usage };
    },

    /** The texts of the answers that a review counts, by the ids of these. */
    async textsOf(reviewId: string, answers: readonly ReviewAnswer[]): Promise<Map<string, string>> {
      if (answers.length === 0) {
        return new Map();
      }
      const counted = new Set(answers.map(({ id }) => id));
      const found = await texts.find({ _id: { $in: [...counted] } });
      return new Map(found.filter((one) => one.reviewId === reviewId).map(({ _id, text }) => [_id, text]));
    },

    /**
     * Replaces a review by what `change` makes of the newest; it may run more than once, and throws to refuse. The same object
     * changes nothing. `undefined` when there is no such review.
     */
    async change(id: string, change: (current: ReviewRecord) => ReviewRecord): Promise<ReviewRecord | undefined> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const stored = await reviews.get(id);
        if (!stored) {
          return undefined;
        }
        const current = present(stored);
        const next = change(current);
        if (next === current) {
          return current;
        }
        const { id: _id, revision, work, ...fields } = next;
        const changed = await reviews.findOneAndUpdate(
          { _id: id, revision },
          {
            $set: work === undefined ? fields : { ...fields, work },
            $inc: { revision: 1 },
            ...(work === undefined ? { $unset: { work: '' } } : {}),
          },
        );
        if (changed) {
          return present(changed);
        }
      }
      throw new AppError('CONFLICT', {
        status: 409,
        message: 'Too many concurrent changes of this review. Try again.',
      });
    },

    /** Reviews with something to do that no caller does. */
    async *due(pageSize?: number): AsyncGenerator<ReviewRecord> {
      for (const work of works) {
        for await (const record of inPages(reviews, { work }, pageSize)) {
          yield present(record);
        }
      }
    },
  };
}

export type DecisionReviewStore = Awaited<ReturnType<typeof createDecisionReviewStore>>;
