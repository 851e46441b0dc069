import { z } from 'zod';
import { timestamp } from '../../../contracts/common';
import { listPage, moment, nextCursor, several } from '../../../contracts/query';
import { attempt, attemptState, runStatus } from '../../../contracts/runs/attempt';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { presentAttempt } from '../../../stores/runs/attempt-store';
import type { WorkflowContext } from '../../context';
import { attemptOfTask } from './attempt';
import { attemptParams, taskParams } from './parameters';
import { readStatus } from './status';

const attemptQuery = z.strictObject({
  ...listPage(50, 200),
  /** Only attempts made before this moment: the `createdAt` of the last one of the page before. */
  before: moment.optional(),
  /** Only attempts in these states; refused launches are listed only when `refused` is among them. */
  state: several(attemptState),
});

const attemptPage = z
  .object({ attempts: z.array(attempt), nextBefore: timestamp.nullable(), nextCursor })
  .meta({ id: 'AttemptPage' });

/** The runs of a task: the latest one and its history. */
export function attemptRoutes(routes: Routes, context: WorkflowContext): void {
  const { attempts, board } = context;

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/status',
      operationId: 'getRunStatus',
      summary: 'Read the latest attempt of a task with its contract and controls',
      tag: 'runs',
      permission: 'agent:read',
      params: taskParams,
      response: runStatus,
      errors: [404],
    },
    ({ params }) => readStatus(context, params.taskId),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts/:attemptId',
      operationId: 'getAttempt',
      summary: 'Read an attempt of a task, including a refused launch',
      tag: 'runs',
      permission: 'agent:read',
      params: attemptParams,
      response: attempt,
      errors: [404],
    },
    async ({ params }) => presentAttempt(await attemptOfTask({ attempts }, params.taskId, params.attemptId)),
  );

  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts',
      operationId: 'listAttempts',
      summary: 'List attempts of a task, newest first; refused launches with state=refused',
      tag: 'runs',
      permission: 'agent:read',
      params: taskParams,
      query: attemptQuery,
      response: attemptPage,
    },
    async ({ params: { taskId }, query: { before, state: states, ...part } }) => {
      const page = await attempts.list(taskId, part, { before, states });
      const { items, next } = page;
      if (items.length === 0) {
        assertFound(await board.get(taskId), 'task', taskId);
      }
      const nextBefore = next ? (items.at(-1)?.createdAt ?? null) : null;
      return page.answer({ attempts: items.map(presentAttempt), nextBefore });
    },
  );
}
