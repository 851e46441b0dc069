import { z } from 'zod';
import {
  goalCreate,
  goalRollover,
  goalRunLink,
  goalTransitionRequest,
} from '../../../contracts/governance/goals/changes';
import { type Goal, goal, goalId, goalList, goalQuery } from '../../../contracts/governance/goals/goal';
import { plannedAttempt } from '../../../domain/goals/continuation';
import { newGoal } from '../../../domain/goals/create';
import { hasRun } from '../../../domain/goals/runs';
import { assertFound, validationError } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { currentOperation, operationTime } from '../../../platform/operations/operation';
import type { WorkflowContext } from '../../context';
import { assertRevision, withRevision } from '../../revisions';
import { newItemId } from '../../tasks/tasks/items';
import { type LinkContext, linked, reserveRun, runToLink } from './link';
import { rolledOver, transitioned } from './transition';

const tag = 'goals';
const params = z.strictObject({ goalId });
const write = { method: 'post' as const, tag, permission: 'admin:manage' as const, response: goal, errors: [404, 409] };

/** Objectives that outlive their runs (specification 2, Goals). */
export function goalRoutes(
  routes: Routes,
  context: LinkContext & Pick<WorkflowContext, 'goalLauncher' | 'workspaceId'>,
): void {
  const { goals, board, workspaceId, goalLauncher } = context;

  const answered = (ctx: HttpContext, record: Goal): Goal => withRevision(ctx, tag, record);

  /**
   * Changes a goal at the revision that the caller states, and has its workflow look at it.
   *
   * @param isDone whether there is nothing to change, because an earlier try of the request has done it
   */
  async function change(
    id: string,
    { expectedRevision, isDone }: { expectedRevision: number; isDone: (current: Goal, at: string) => boolean },
    make: (current: Goal, at: string) => Goal,
  ): Promise<Goal> {
    const at = operationTime().toISOString();
    const changed = await goals.change(
      id,
      (current) => {
        if (isDone(current, at)) {
          return current;
        }
        assertRevision('goal', current, { expectedRevision });
        return make(current, at);
      },
      { at, due: true },
    );
    assertFound(changed, 'goal', id);
    await goalLauncher.look(id);
    return changed;
  }

  routes.add(
    {
      method: 'get',
      path: '/goals',
      operationId: 'listGoals',
      summary: 'List goals, newest first',
      tag,
      permission: 'agent:read',
      query: goalQuery,
      response: goalList,
    },
    async ({ query }) => {
      const page = await goals.list(query);
      return page.answer({ generatedAt: new Date().toISOString(), goals: page.items });
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/goals/:goalId',
      operationId: 'getGoal',
      summary: 'Read a goal',
      tag,
      permission: 'agent:read',
      params,
      response: goal,
      errors: [404],
    },
    async ({ params: { goalId: id } }, ctx) => {
      const found = await goals.get(id);
      assertFound(found, 'goal', id);
      return answered(ctx, found);
    },
  );

  routes.add(
    {
      ...write,
      path: '/goals',
      operationId: 'createGoal',
      summary: 'Create a goal of a task',
      body: goalCreate,
      status: 201,
      errors: [409],
      audit: (_request, { id, root, continuation, budgets }) => ({
        action: 'goal.create',
        resource: id,
        details: { taskId: root.taskId, mode: continuation.mode, budgets },
      }),
    },
    async ({ body, auth }, ctx) => {
      if (!(await board.get(body.root.taskId))) {
        throw validationError([{ path: 'root.taskId', message: 'is no task of the board' }]);
      }
      const at = operationTime().toISOString();
      const created = newGoal(body, { id: newItemId('goal'), workspaceId, actor: auth.actor, at });
      await goals.add(created);
      return answered(ctx, created);
    },
  );

  routes.add(
    {
      ...write,
      path: '/goals/:goalId/transition',
      operationId: 'transitionGoal',
      summary: 'Change the state of a goal',
      params,
      body: goalTransitionRequest,
      audit: ({ params: { goalId: resource }, body: { state, reason } }) => ({
        action: 'goal.transition',
        resource,
        details: { state, reason },
      }),
    },
    async ({ params: { goalId: id }, body: { expectedRevision, ...asked }, auth: { actor } }, ctx) =>
      answered(
        ctx,
        await change(id, { expectedRevision, isDone: transitionedBy(actor) }, (current, at) =>
          transitioned(current, asked, { actor, at }),
        ),
      ),
  );

  routes.add(
    {
      ...write,
      path: '/goals/:goalId/runs',
      operationId: 'linkGoalRun',
      summary: 'Add a run to a goal',
      params,
      body: goalRunLink,
      audit: ({ params: { goalId: resource }, body: { taskId, attemptId } }, { currentRun }) => ({
        action: 'goal.link-run',
        resource,
        details: { taskId, attemptId: attemptId ?? currentRun?.attemptId },
      }),
    },
    async ({ params: { goalId: id }, body: { expectedRevision, ...asked } }, ctx) => {
      const current = await goals.get(id);
      assertFound(current, 'goal', id);
      const run = await runToLink(context, asked, operationTime().toISOString());
      if (!hasRun(current, run.attemptId)) {
        assertRevision('goal', current, { expectedRevision });
      }
      await reserveRun(context, id, run.attemptId);
      return answered(
        ctx,
        await change(id, { expectedRevision, isDone: (newest) => hasRun(newest, run.attemptId) }, (newest) =>
          linked(newest, run),
        ),
      );
    },
  );

  routes.add(
    {
      ...write,
      path: '/goals/:goalId/rollover',
      operationId: 'rollOverGoal',
      summary: 'Continue a goal with a fresh conversation',
      params,
      body: goalRollover,
      status: 201,
      audit: ({ params: { goalId: resource } }, answer) => ({
        action: 'goal.rollover',
        resource,
        details: { attemptId: plannedAttempt(answer)?.attemptId },
      }),
    },
    async ({ params: { goalId: id }, body: { expectedRevision }, auth: { actor } }, ctx) =>
      answered(
        ctx,
        await change(id, { expectedRevision, isDone: rolledOverBy(actor) }, (current, at) =>
          rolledOver(current, { actor, at }),
        ),
      ),
  );
}

/** Whether this request is repeated, and an earlier try has set the present state at the same moment. */
const transitionedBy =
  (actor: string) =>
  ({ transitions }: Goal, at: string) => {
    const last = transitions.at(-1);
    return isRepeated() && last?.at === at && last.actor === actor;
  };

/** Whether this request is repeated, and an earlier try has planned the last continuation at the same moment. */
const rolledOverBy =
  (actor: string) =>
  ({ continuationAttempts }: Goal, at: string) => {
    const last = continuationAttempts.at(-1);
    return isRepeated() && last?.plannedAt === at && last.requestedBy === actor;
  };

const isRepeated = (): boolean => currentOperation()?.repeated === true;
