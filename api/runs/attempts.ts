import { z } from 'zod';
import { attempt, attemptState } from '../../contracts/attempt';
import { timestamp } from '../../contracts/common';
import { listPage, moment, nextCursor, several } from '../../contracts/query';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { presentAttempt } from '../../stores/attempt-store';
import type { RunsContext } from './context';
import { attemptOfTask } from './attempt';
import { ofAttempt, ofTask } from './parameters';

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

/** The history of a task's runs. */
export function attemptRoutes(routes: Routes, { attempts, board }: RunsContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts/:attemptId',
      operationId: 'getAttempt',
      summary: 'Read an attempt of a task, also a refused launch',
      tag: 'runs',
      permission: 'agent:read',
      params: ofAttempt,
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
      summary: 'List the attempts of a task, the newest first; refused launches with state=refused',
      tag: 'runs',
      permission: 'agent:read',
      params: ofTask,
      query: attemptQuery,
      response: attemptPage,
    },
    async ({ params: { taskId }, query: { before, state: states, ...part } }) => {
      const page = await attempts.list(taskId, part, { before, states });
      const { items, next } = page;
      if (items.length === 0) assertFound(await board.get(taskId), 'task', taskId);
      const nextBefore = next ? (items.at(-1)?.createdAt ?? null) : null;
      return page.answer({ attempts: items.map(presentAttempt), nextBefore });
    },
  );
}
