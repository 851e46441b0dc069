import { z } from 'zod';
import { exactlyOneOf, slug, taskId, text, timestamp } from '../common';
import { flag, moment, paging } from '../query';

export const sentiment = z.enum(['positive', 'neutral', 'negative']);
export type Sentiment = z.infer<typeof sentiment>;

export const feedbackId = z
  .string()
  .regex(/^feedback_[0-9a-f]{12}$/, 'must look like feedback_0123456789ab')
  .meta({ id: 'FeedbackId' });

const rating = z.number().int().min(1).max(5);
const category = text(100, 1);
const categories = z.array(category).max(20);

/** An opinion of the work of an agent, or of a task. */
export const feedback = z
  .object({
    id: feedbackId,
    content: z.string(),
    sentiment,
    /** The first of the categories. */
    category: z.string().optional(),
    categories: z.array(z.string()).optional(),
    /** 1 to 5, where it was submitted as one. */
    rating: rating.optional(),
    agent: slug.optional(),
    taskId: taskId.optional(),
    /** Whether it has been dealt with. */
    resolved: z.boolean(),
    createdAt: timestamp,
    createdBy: z.string(),
  })
  .meta({ id: 'Feedback' });
export type Feedback = z.infer<typeof feedback>;

/**
 * Two forms: `content` with its `sentiment`, or a `rating` of a task from 1 to 5 with a comment, whose sentiment follows
 * from the rating (gaps 2).
 */
export const feedbackCreate = z
  .strictObject({
    content: text(5_000, 1).optional(),
    sentiment: sentiment.optional(),
    category: category.optional(),
    rating: rating.optional(),
    comment: text(5_000).optional(),
    categories: categories.optional(),
    agent: slug.optional(),
    taskId: taskId.optional(),
  })
  .refine(...exactlyOneOf('content', 'rating'))
  .refine(({ content, sentiment }) => (content === undefined) === (sentiment === undefined), {
    path: ['sentiment'],
    message: 'is required with content, and not allowed without it',
  })
  .refine(({ rating, comment }) => comment === undefined || rating !== undefined, {
    path: ['comment'],
    message: 'is allowed only with a rating',
  })
  .refine(({ rating, taskId }) => rating === undefined || taskId !== undefined, {
    path: ['taskId'],
    message: 'is required with a rating',
  })
  .refine(({ category, categories }) => category === undefined || categories === undefined, {
    path: ['categories'],
    message: 'is an alias of category: give only one of them',
  })
  .meta({ id: 'FeedbackCreate' });
export type FeedbackCreate = z.infer<typeof feedbackCreate>;

export const feedbackPatch = z.strictObject({ resolved: z.boolean() }).meta({ id: 'FeedbackPatch' });

/** `since` and `until` are inclusive. */
export const feedbackQuery = z
  .strictObject({
    agent: slug.optional(),
    taskId: taskId.optional(),
    sentiment: sentiment.optional(),
    resolved: flag.optional(),
    since: moment.optional(),
    ...paging(50, 500),
  })
  .meta({ id: 'FeedbackQuery' });
export type FeedbackQuery = z.output<typeof feedbackQuery>;

export const unresolvedFeedbackQuery = z.strictObject(paging(50, 500)).meta({ id: 'UnresolvedFeedbackQuery' });

export const feedbackAnalyticsQuery = z
  .strictObject({ agent: slug.optional(), since: moment.optional(), until: moment.optional() })
  .meta({ id: 'FeedbackAnalyticsQuery' });
export type FeedbackAnalyticsQuery = z.output<typeof feedbackAnalyticsQuery>;

const perSentiment = { positive: z.number().int(), neutral: z.number().int(), negative: z.number().int() };

export const feedbackAnalytics = z
  .object({
    total: z.number().int(),
    sentimentBreakdown: z.object(perSentiment),
    /** The ten most frequent. */
    topCategories: z.array(z.object({ category: z.string(), count: z.number().int() })),
    /** Days (UTC) with feedback, in order. */
    trend: z.array(z.object({ date: z.iso.date(), ...perSentiment })),
    /** Of those that were submitted as ratings; null when there are none. */
    averageRating: z.number().nullable(),
    unresolvedCount: z.number().int(),
  })
  .meta({ id: 'FeedbackAnalytics' });
export type FeedbackAnalytics = z.infer<typeof feedbackAnalytics>;
