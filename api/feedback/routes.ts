import { z } from 'zod';
import {
  feedback,
  feedbackAnalytics,
  feedbackAnalyticsQuery,
  feedbackCreate,
  feedbackId,
  feedbackPatch,
  feedbackQuery,
  unresolvedFeedbackQuery,
  type Feedback,
  type FeedbackCreate,
  type Sentiment,
} from '../../contracts/feedback';
import type { SwitchableFeature } from '../../contracts/settings';
import { assertFound, notFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { operationTime } from '../../platform/operations/operation';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { plainField, withoutTags } from '../tasks/plain-text';
import { analyse } from './analytics';

const tag = 'feedback';
const byId = z.strictObject({ id: feedbackId });
const read = { method: 'get' as const, tag, permission: 'report:read' };
const write = { tag, permission: 'comment:write' };

/** Three of five stars are neither praise nor blame. */
const sentimentOf = (rating: number): Sentiment => (rating > 3 ? 'positive' : rating < 3 ? 'negative' : 'neutral');

/** What either form of the request says. @throws AppError 400 when nothing is left of a text without its tags */
function saidIn({ content, sentiment, comment, rating, category, categories, ...about }: FeedbackCreate) {
  const named = (categories ?? (category === undefined ? [] : [category])).map((name, index) =>
    plainField(name, categories ? `categories.${index}` : 'category'),
  );
  return {
    ...about,
    content: content === undefined ? withoutTags(comment ?? '') : plainField(content, 'content'),
    sentiment: sentiment ?? sentimentOf(rating ?? 3),
    ...(rating === undefined ? {} : { rating }),
    ...(named.length === 0 ? {} : { category: named[0], categories: named }),
  };
}

/** What people and agents think of work that was done (specification 1, Registries and analysis). */
export function feedbackRoutes(routes: Routes, { feedback: store }: Pick<ApiContext, 'feedback'>): void {
  routes.add(
    {
      ...read,
      path: '/feedback',
      operationId: 'listFeedback',
      summary: 'List feedback by agent, task, sentiment and time, the newest first',
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
      summary: 'Say what you think of the work of an agent, or of a task, in words or as a rating',
      body: feedbackCreate,
      response: feedback,
      status: 201,
    },
    async ({ body, auth }) => {
      const given: Feedback = {
        id: newItemId('feedback'),
        ...saidIn(body),
        resolved: false,
        createdAt: operationTime().toISOString(),
        createdBy: auth.actor,
      };
      await store.add(given);
      return given;
    },
  );

  routes.add(
    {
      ...read,
      path: '/feedback/analytics',
      setting: 'analyticsEnabled' satisfies SwitchableFeature,
      operationId: 'getFeedbackAnalytics',
      summary: 'What the feedback on an agent, or on all, says taken together',
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
      summary: 'List what nobody has dealt with, the newest first',
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
      summary: 'Read one feedback',
      params: byId,
      response: feedback,
    },
    async ({ params: { id } }) => {
      const found = await store.get(id);
      assertFound(found, 'feedback', id);
      return found;
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/feedback/:id',
      operationId: 'resolveFeedback',
      summary: 'Say whether a feedback has been dealt with',
      params: byId,
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
      summary: 'Delete a feedback',
      params: byId,
      response: z.undefined(),
      status: 204,
      audit: ({ params }) => ({ action: 'feedback.delete', resource: params.id }),
    },
    async ({ params: { id } }) => {
      if (!(await store.remove(id))) throw notFound('feedback', id);
      return undefined;
    },
  );
}
