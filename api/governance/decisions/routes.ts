import { z } from 'zod';
import {
  assumptionPatch,
  decision,
  decisionCreate,
  decisionId,
  decisionQuery,
  decisionWithChain,
} from '../../../contracts/governance/decision';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId } from '../../tasks/tasks/items';
import { decisionFields, withAssumption } from './fields';

const tag = 'decisions';
const read = { tag, permission: 'task:read' };
const write = { tag, permission: 'task:write', response: decision };

const assumptionParams = z.strictObject({
  id: decisionId,
  idx: z
    .string()
    .regex(/^\d{1,4}$/, 'must be an index of the list, starting at 0')
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
      summary: 'List agent decisions, newest first',
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
      summary: 'Record a decision',
      body: decisionCreate,
      status: 201,
    },
    async ({ body }) => {
      const { taskId, parentDecisionId } = body;
      if (taskId !== undefined) {
        assertFound(await board.get(taskId), 'task', taskId);
      }
      if (parentDecisionId !== undefined) {
        assertFound(await decisions.get(parentDecisionId), 'decision', parentDecisionId);
      }
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
      summary: 'Read a decision with its chain of parent decisions',
      params: z.strictObject({ id: decisionId }),
      response: decisionWithChain,
    },
    async ({ params }) => {
      const stored = await decisions.get(params.id);
      assertFound(stored, 'decision', params.id);
      return { decision: stored, chain: await decisions.chainOf(stored) };
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: '/decisions/:id/assumptions/:idx',
      operationId: 'changeAssumption',
      summary: 'Update an assumption of a decision by its index, from 0',
      params: assumptionParams,
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
