import { z } from 'zod';
import {
  type Feedback,
  feedback,
  feedbackAnalytics,
  feedbackAnalyticsQuery,
  type FeedbackCreate,
  feedbackCreate,
  feedbackId,
  feedbackPatch,
  feedbackQuery,
  type Sentiment,
  unresolvedFeedbackQuery,
} from '../../../contracts/knowledge/feedback';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import { assertFound, notFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import { withoutTags } from '../../../platform/text/without-tags';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { analyse } from './analytics';

const tag = 'feedback';
const idParams = z.strictObject({ id: feedbackId });
const read = { method: 'get' as const, tag, permission: 'report:read' };
const write = { tag, permission: 'comment:write' };

/** Three of five stars are neither praise nor blame. */
const sentimentOf = (rating: number): Sentiment => (rating > 3 ? 'positive' : rating < 3 ? 'negative' : 'neutral');

/** The feedback in either form of the request. @throws AppError 400 when a text is empty without its tags */
function feedbackFields({ content, sentiment, comment, rating, category, categories, ...about }: FeedbackCreate) {
  const categoryNames = (categories ?? (category === undefined ? [] : [category])).map((name, index) =>
    plainField(name, categories ? `categories.${index}` : 'category'),
  );
  return {
    ...about,
    content: content === undefined ? withoutTags(comment ?? '') : plainField(content, 'content'),
    sentiment: sentiment ?? sentimentOf(rating ?? 3),
    ...compact({ rating }),
    ...(categoryNames.length === 0 ? {} : { category: categoryNames[0], categories: categoryNames }),
  };
}

/** What people and agents think of work that was done (specification 1, Registries and analysis). */
export function feedbackRoutes(routes: Routes, { feedback: store }: Pick<ApiContext, 'feedback'>): void {
  routes.add(
    {
      ...read,
      path: '/feedback',
      operationId: 'listFeedback',
      summary: 'List feedback by agent, task, sentiment and time, newest first',
      query: feedbackQuery,
      response: z.array(feedback),
    },
    ({ query }) => store.list(query),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/feedback',
      operationId: 'giveFeedback',
      summary: 'Submit feedback on an agent or a task, as text or a rating',
      body: feedbackCreate,
      response: feedback,
      status: 201,
    },
    async ({ body, auth }) => {
      const submitted: Feedback = {
        id: newItemId('feedback'),
        ...feedbackFields(body),
        resolved: false,
        createdAt: operationTime().toISOString(),
        createdBy: auth.actor,
      };
      await store.add(submitted);
      return submitted;
    },
  );

  routes.add(
    {
      ...read,
      path: '/feedback/analytics',
      setting: 'analyticsEnabled' satisfies SwitchableFeature,
      operationId: 'getFeedbackAnalytics',
      summary: 'Summarize feedback on one agent or all',
      query: feedbackAnalyticsQuery,
      response: feedbackAnalytics,
    },
    async ({ query }) => analyse(await store.newest(query)),
  );

  routes.add(
    {
      ...read,
      path: '/feedback/unresolved',
      operationId: 'listUnresolvedFeedback',
      summary: 'List unresolved feedback, newest first',
      query: unresolvedFeedbackQuery,
      response: z.array(feedback),
    },
    ({ query }) => store.list({ ...query, resolved: false }),
  );

  routes.add(
    {
      ...read,
      path: '/feedback/:id',
      operationId: 'getFeedback',
      summary: 'Read a feedback entry',
      params: idParams,
      response: feedback,
    },
    async ({ params: { id } }) => {
      const stored = await store.get(id);
      assertFound(stored, 'feedback', id);
      return stored;
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/feedback/:id',
      operationId: 'resolveFeedback',
      summary: 'Resolve or reopen a feedback entry',
      params: idParams,
      body: feedbackPatch,
      response: feedback,
    },
    async ({ params: { id }, body }) => {
      const changed = await store.resolve(id, body.resolved);
      assertFound(changed, 'feedback', id);
      return changed;
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/feedback/:id',
      operationId: 'deleteFeedback',
      summary: 'Delete a feedback entry',
      params: idParams,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'feedback.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await store.remove(id))) {
        throw notFound('feedback', id);
      }
      return undefined;
    },
  );
}
