import { z } from 'zod';
import {
  type AnswerKind,
  decisionReview,
  decisionReviewCreate,
  decisionReviewQuery,
  decisionReviewSummary,
  reviewCancellation,
  reviewFinalization,
  reviewId,
  reviewSubmission,
} from '../../../contracts/governance/decision-review';
import { assertAwaited, canceled, finalized, withAnswer } from '../../../domain/decision-reviews/changes';
import { reviewMarkdown } from '../../../domain/decision-reviews/markdown';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { BytesResponse } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import { newRecordId, operationTime } from '../../../platform/operations/operation';
import {
  decisionOfReview,
  reviewSummary,
  wholeReview,
} from '../../../stores/governance/decision-reviews/review-records';
import { changeReview, findReview, unlessRefused } from './changes';
import type { DecisionReviewContext } from './context';
import { createReview } from './create';

const tag = 'decisions';
const params = z.strictObject({ id: reviewId });
const read = { method: 'get' as const, tag, permission: 'task:read' };
const write = { method: 'post' as const, tag, permission: 'task:write', response: decisionReview, errors: [409] };

const now = (): string => operationTime().toISOString();

/** Who ends a review, by this request. */
const ending = ({ actor }: AuthContext) => ({ by: actor, at: now(), requestId: newRecordId('request', 12) });

/** Decisions that several participants, people and models, prepare in rounds (specification 2, Policies and governance). */
export function decisionReviewRoutes(routes: Routes, context: DecisionReviewContext): void {
  const { decisionReviews } = context;
  const redact = createRedactor();

  routes.add(
    {
      ...read,
      path: '/decisions/reviews',
      operationId: 'listDecisionReviews',
      summary: 'List decision reviews by task and state, newest first',
      query: decisionReviewQuery,
      response: z.array(decisionReviewSummary),
    },
    async ({ query }) => (await decisionReviews.list(query)).map(reviewSummary),
  );

  routes.add(
    {
      ...write,
      path: '/decisions/reviews',
      operationId: 'startDecisionReview',
      summary: 'Start a decision review with at least two participants',
      body: decisionReviewCreate,
      status: 201,
      errors: [403, 404, 409],
      audit: (_request, { id, taskId, rounds, participants }) => ({
        action: 'decision-review.start',
        resource: id,
        details: { taskId, rounds, models: participants.flatMap(({ model }) => model ?? []) },
      }),
    },
    ({ body, auth }) => createReview(context, body, auth),
  );

  routes.add(
    {
      ...read,
      path: '/decisions/reviews/:id',
      operationId: 'getDecisionReview',
      summary: 'Read a decision review with its answers',
      params,
      response: decisionReview,
    },
    async ({ params: { id } }) => wholeReview(decisionReviews, await findReview(context, id)),
  );

  routes.add(
    {
      ...read,
      path: '/decisions/reviews/:id/export',
      operationId: 'exportDecisionReview',
      summary: 'Export a decision review as markdown',
      params,
      response: z.string(),
      mediaType: 'text/markdown',
    },
    async ({ params: { id } }) => {
      const review = await wholeReview(decisionReviews, await findReview(context, id));
      return new BytesResponse(oneChunk(reviewMarkdown(review)), {
        'Content-Type': 'text/markdown; charset=utf-8',
        'Content-Disposition': `attachment; filename="${id}.md"`,
        'X-Content-Type-Options': 'nosniff',
      });
    },
  );

  function submission(kind: AnswerKind, operationId: string): void {
    routes.add(
      {
        ...write,
        path: `/decisions/reviews/:id/${kind}s`,
        operationId,
        summary: `Submit the ${kind} of a participant to the present round of a decision review`,
        params,
        body: reviewSubmission,
        audit: ({ params: { id }, body: { participantId } }) => ({
          action: `decision-review.${kind}`,
          resource: id,
          details: { participantId },
        }),
      },
      async ({ params: { id }, body, auth }) => {
        const answerId = newRecordId('answer', 12);
        const asked = { ...body, kind };
        const review = await findReview(context, id);
        unlessRefused(() => assertAwaited(review, asked, answerId));
        await decisionReviews.writeText({ id: answerId, reviewId: id, text: redact(body.text) });
        return changeReview(context, id, (current) => {
          const round = assertAwaited(current, asked, answerId);
          const { participantId } = body;
          return withAnswer(current, { id: answerId, kind, round, participantId, by: auth.actor, at: now() });
        });
      },
    );
  }
  submission('response', 'respondToDecisionReview');
  submission('critique', 'critiqueDecisionReview');

  routes.add(
    {
      ...write,
      path: '/decisions/reviews/:id/finalize',
      operationId: 'finalizeDecisionReview',
      summary: 'Finalize a decision review with its synthesis, which may become a decision of the task',
      params,
      body: reviewFinalization,
      audit: ({ params: { id } }, { decisionId }) => ({
        action: 'decision-review.finalize',
        resource: id,
        details: compact({ decisionId }),
      }),
    },
    async ({ params: { id }, body: { synthesis, decision }, auth }) => {
      const by = { ...ending(auth), decisionId: decisionOfReview(id) };
      const text = synthesis === undefined ? undefined : redact(synthesis);
      return changeReview(context, id, (current) => finalized(current, compact({ synthesis: text, decision }), by));
    },
  );

  routes.add(
    {
      ...write,
      path: '/decisions/reviews/:id/cancel',
      operationId: 'cancelDecisionReview',
      summary: 'Cancel a decision review',
      params,
      body: reviewCancellation,
      audit: ({ params: { id }, body }) => ({ action: 'decision-review.cancel', resource: id, details: body }),
    },
    async ({ params: { id }, body, auth }) => {
      const by = ending(auth);
      const reason = body.reason === undefined ? undefined : redact(body.reason);
      return changeReview(context, id, (current) => canceled(current, { ...by, reason }));
    },
  );
}

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
