import { z } from 'zod';
import {
  type Reflection,
  reflection,
  reflectionAccept,
  reflectionCreate,
  reflectionId,
  reflectionMerge,
  reflectionQuery,
  reflectionReject,
} from '../../../contracts/knowledge/reflection';
import { assertFound, validationError } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ReflectionDecision } from '../../../stores/knowledge/reflection-store';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';
import { accept, alreadyDecided } from './accept';
import { redacted, redactedText } from './redacted';

const tag = 'reflections';
const idParams = z.strictObject({ id: reflectionId });
const read = { method: 'get' as const, tag, permission: 'workflow:read' };
const write = { tag, permission: 'workflow:write' };
const decision = { ...write, method: 'post' as const, params: idParams, response: reflection, errors: [409] };

/** The audit entry of a decision. */
const audited = (action: string) => (_request: unknown, answer: Reflection) => ({
  action: `reflection.${action}`,
  resource: answer.id,
  details: { summary: answer.summary, taskId: answer.source.taskId, review: answer.review },
});

/** The reviewer, and their comment. */
function reviewOf(
  { reviewedBy, reviewerNote }: { reviewedBy?: string | undefined; reviewerNote?: string | undefined },
  auth: AuthContext,
): NonNullable<ReflectionDecision['review']> {
  return {
    reviewedBy: plainField(reviewedBy ?? auth.tokenName, 'reviewedBy'),
    ...(reviewerNote === undefined ? {} : { reviewerNote: redactedText(reviewerNote) }),
    reviewedAt: new Date().toISOString(),
  };
}

/** Things that were learnt, and what people decide about them (specification 1, Reflection rules). */
export function reflectionRoutes(
  routes: Routes,
  { reflections, board }: Pick<ApiContext, 'reflections' | 'board'>,
): void {
  async function find(id: string): Promise<Reflection> {
    const stored = await reflections.get(id);
    assertFound(stored, 'reflection', id);
    return stored;
  }

  async function decide(id: string, from: Reflection['status'][], decided: ReflectionDecision): Promise<Reflection> {
    return (await reflections.decide(id, from, decided)) ?? alreadyDecided(await find(id));
  }

  routes.add(
    {
      ...read,
      path: '/reflections',
      operationId: 'listReflections',
      summary: 'List reflections by status, category, source and task, newest first; deleted ones by that status only',
      query: reflectionQuery,
      response: z.array(reflection),
    },
    ({ query }) => reflections.list(query),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/reflections',
      operationId: 'proposeReflection',
      summary: 'Propose a reflection for review',
      body: reflectionCreate,
      response: reflection,
      status: 201,
    },
    async ({ body, auth }) => {
      const proposed: Reflection = {
        id: newItemId('reflection'),
        ...redacted(body),
        status: 'pending',
        createdAt: operationTime().toISOString(),
        createdBy: auth.actor,
      };
      await reflections.add(proposed);
      return proposed;
    },
  );

  routes.add(
    {
      ...read,
      path: '/reflections/:id',
      operationId: 'getReflection',
      summary: 'Read a reflection',
      params: idParams,
      response: reflection,
    },
    ({ params }) => find(params.id),
  );

  routes.add(
    {
      ...decision,
      path: '/reflections/:id/accept',
      operationId: 'acceptReflection',
      summary: 'Accept a reflection; a task lesson is added to its task once',
      body: reflectionAccept,
      audit: audited('accept'),
    },
    ({ params, body, auth }) =>
      accept(
        { board, reflections },
        {
          id: params.id,
          promotionTarget: body.promotionTarget,
          review: reviewOf(body, auth),
          stated: (['reviewedBy', 'reviewerNote'] as const).filter((field) => body[field] !== undefined),
          actor: auth.actor,
        },
      ),
  );

  routes.add(
    {
      ...decision,
      path: '/reflections/:id/reject',
      operationId: 'rejectReflection',
      summary: 'Reject a pending reflection',
      body: reflectionReject,
      audit: audited('reject'),
    },
    ({ params, body, auth }) => decide(params.id, ['pending'], { status: 'rejected', review: reviewOf(body, auth) }),
  );

  routes.add(
    {
      ...decision,
      path: '/reflections/:id/merge',
      operationId: 'mergeReflection',
      summary: 'Merge a pending reflection into another one',
      body: reflectionMerge,
      audit: audited('merge'),
    },
    async ({ params: { id }, body, auth }) => {
      const { targetId } = body;
      const target = await reflections.get(targetId);
      if (targetId === id || (target?.status !== 'pending' && target?.status !== 'accepted')) {
        throw validationError([
          { path: 'targetId', message: 'must be another reflection that is pending or accepted' },
        ]);
      }
      return decide(id, ['pending'], { status: 'merged', mergedInto: targetId, review: reviewOf(body, auth) });
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/reflections/:id',
      operationId: 'deleteReflection',
      summary: 'Delete a reflection from the lists; its record and lesson remain',
      params: idParams,
      response: reflection,
      audit: (_request, answer) => ({ action: 'reflection.delete', resource: answer.id }),
    },
    async ({ params: { id } }) => {
      const from = ['pending', 'accepted', 'rejected', 'merged'] as const;
      return (await reflections.decide(id, [...from], { status: 'deleted' })) ?? find(id);
    },
  );
}
