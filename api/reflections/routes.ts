import { z } from 'zod';
import {
  reflection,
  reflectionAccept,
  reflectionCreate,
  reflectionId,
  reflectionMerge,
  reflectionQuery,
  reflectionReject,
  type Reflection,
} from '../../contracts/reflection';
import { assertFound, validationError } from '../../platform/errors/app-error';
import type { AuthContext } from '../../platform/http/auth';
import type { Routes } from '../../platform/http/routes';
import { operationTime } from '../../platform/operations/operation';
import type { Decision } from '../../stores/reflection-store';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { accept, alreadyDecided } from './accept';
import { redacted, redactedText } from './redacted';

const tag = 'reflections';
const byId = z.strictObject({ id: reflectionId });
const read = { method: 'get' as const, tag, permission: 'workflow:read' };
const write = { tag, permission: 'workflow:write' };
const decision = { ...write, method: 'post' as const, params: byId, response: reflection, errors: [409] };

/** What the audit log keeps of a decision. */
const audited = (action: string) => (_request: unknown, answer: Reflection) => ({
  action: `reflection.${action}`,
  resource: answer.id,
  details: { summary: answer.summary, taskId: answer.source.taskId, review: answer.review },
});

/** Who decides, and what they say of it. */
function reviewOf(
  { reviewedBy, reviewerNote }: { reviewedBy?: string | undefined; reviewerNote?: string | undefined },
  auth: AuthContext,
): NonNullable<Decision['review']> {
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
    const found = await reflections.get(id);
    assertFound(found, 'reflection', id);
    return found;
  }

  async function decide(id: string, from: Reflection['status'][], decided: Decision): Promise<Reflection> {
    return (await reflections.decide(id, from, decided)) ?? alreadyDecided(await find(id));
  }

  routes.add(
    {
      ...read,
      path: '/reflections',
      operationId: 'listReflections',
      summary:
        'List reflections by status, category, source and task, the newest first; deleted ones by that status only',
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
      summary: 'Propose something that was learnt; it waits for a review',
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
      summary: 'Read one reflection',
      params: byId,
      response: reflection,
    },
    ({ params }) => find(params.id),
  );

  routes.add(
    {
      ...decision,
      path: '/reflections/:id/accept',
      operationId: 'acceptReflection',
      summary: 'Accept a reflection; as a task lesson it is added to its task, once however often this is said',
      body: reflectionAccept,
      audit: audited('accept'),
    },
    ({ params, body, auth }) =>
      accept(
        { board, reflections },
        { id: params.id, promotionTarget: body.promotionTarget, review: reviewOf(body, auth), actor: auth.actor },
      ),
  );

  routes.add(
    {
      ...decision,
      path: '/reflections/:id/reject',
      operationId: 'rejectReflection',
      summary: 'Reject a reflection that waits for a review',
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
      summary: 'Say that a reflection that waits for a review is the same as another one',
      body: reflectionMerge,
      audit: audited('merge'),
    },
    async ({ params: { id }, body, auth }) => {
      const { targetId } = body;
      const target = await reflections.get(targetId);
      if (targetId === id || (target?.status !== 'pending' && target?.status !== 'accepted'))
        throw validationError([
          { path: 'targetId', message: 'must be another reflection that is pending or accepted' },
        ]);
      return decide(id, ['pending'], { status: 'merged', mergedInto: targetId, review: reviewOf(body, auth) });
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: '/reflections/:id',
      operationId: 'deleteReflection',
      summary: 'Take a reflection off the lists; it is kept, and so is a lesson that was made of it',
      params: byId,
      response: reflection,
      audit: (_request, answer) => ({ action: 'reflection.delete', resource: answer.id }),
    },
    async ({ params: { id } }) => {
      const from = ['pending', 'accepted', 'rejected', 'merged'] as const;
      return (await reflections.decide(id, [...from], { status: 'deleted' })) ?? find(id);
    },
  );
}
