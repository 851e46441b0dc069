import { z } from 'zod';
import {
  assumptionPatch,
  decision,
  decisionCreate,
  decisionId,
  decisionQuery,
  decisionWithChain,
} from '../../contracts/decision';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { operationTime } from '../../platform/operations/operation';
import type { ApiContext } from '../context';
import { newItemId } from '../tasks/items';
import { decisionFields, withAssumption } from './fields';

const tag = 'decisions';
const read = { tag, permission: 'task:read' };
const write = { tag, permission: 'task:write', response: decision };

const ofAssumption = z.strictObject({
  id: decisionId,
  idx: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a place in the list, counted from 0')
    .transform(Number),
});

/** What agents have decided, and why (specification 2, Policies and governance). */
export function decisionRoutes(routes: Routes, { decisions, board }: Pick<ApiContext, 'decisions' | 'board'>): void {
  routes.add(
    {
      ...read,
      method: 'get',
      path: '/decisions',
      operationId: 'listDecisions',
      summary: 'List what agents have decided, the newest first',
      query: decisionQuery,
      response: z.array(decision),
    },
    ({ query }) => decisions.list(query),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path: '/decisions',
      operationId: 'addDecision',
      summary: 'Write a decision down',
      body: decisionCreate,
      status: 201,
    },
    async ({ body }) => {
      const { taskId, parentDecisionId } = body;
      if (taskId !== undefined) assertFound(await board.get(taskId), 'task', taskId);
      if (parentDecisionId !== undefined)
        assertFound(await decisions.get(parentDecisionId), 'decision', parentDecisionId);
      const at = operationTime().toISOString();
      const added = { id: newItemId('decision'), ...decisionFields(body), createdAt: at, updatedAt: at, revision: 1 };
      await decisions.add(added);
      return added;
    },
  );

  routes.add(
    {
      ...read,
      method: 'get',
      path: '/decisions/:id',
      operationId: 'getDecision',
      summary: 'Read a decision, and what it follows from',
      params: z.strictObject({ id: decisionId }),
      response: decisionWithChain,
    },
    async ({ params }) => {
      const found = await decisions.get(params.id);
      assertFound(found, 'decision', params.id);
      return { decision: found, chain: await decisions.chainOf(found) };
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/decisions/:id/assumptions/:idx',
      operationId: 'changeAssumption',
      summary: 'Say whether what a decision took for granted has held; they are counted from 0',
      params: ofAssumption,
      body: assumptionPatch,
      errors: [409],
    },
    async ({ params: { id, idx }, body }) => {
      const at = new Date().toISOString();
      const changed = await decisions.change(
        id,
        ({ assumptions }) => ({ assumptions: withAssumption(assumptions, idx, body) }),
        at,
      );
      assertFound(changed, 'decision', id);
      return changed;
    },
  );
}
