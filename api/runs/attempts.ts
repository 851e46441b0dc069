import { z } from 'zod';
import { attempt } from '../../contracts/attempt';
import { timestamp } from '../../contracts/common';
import { listPage, moment, nextCursor } from '../../contracts/query';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { presentAttempt } from '../../stores/attempt-store';
import type { RunsContext } from './context';
import { ofTask } from './parameters';

const attemptQuery = z.strictObject({
  ...listPage(50, 200),
  /** Only attempts made before this moment: the `createdAt` of the last one of the page before. */
  before: moment.optional(),
});

const attemptPage = z
  .object({ attempts: z.array(attempt), nextBefore: timestamp.nullable(), nextCursor })
  .meta({ id: 'AttemptPage' });

/** The history of a task's runs. */
export function attemptRoutes(routes: Routes, { attempts, board }: RunsContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/attempts',
      operationId: 'listAttempts',
      summary: 'List the attempts of a task, the newest first',
      tag: 'runs',
      permission: 'agent:read',
      params: ofTask,
      query: attemptQuery,
      response: attemptPage,
    },
    async ({ params: { taskId }, query: { before, ...part } }) => {
      const page = await attempts.list(taskId, part, before);
      const { items, next } = page;
      if (items.length === 0) assertFound(await board.get(taskId), 'task', taskId);
      const nextBefore = next ? (items.at(-1)?.createdAt ?? null) : null;
      return page.answer({ attempts: items.map(presentAttempt), nextBefore });
    },
  );
}
