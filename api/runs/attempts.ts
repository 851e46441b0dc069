import { z } from 'zod';
import { attempt } from '../../contracts/attempt';
import { timestamp } from '../../contracts/common';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { presentAttempt } from '../../stores/attempt-store';
import type { RunsContext } from './context';
import { ofTask } from './parameters';

const attemptQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** Only attempts made before this moment: the `createdAt` of the last one of the page before. */
  before: timestamp.optional(),
});

const attemptPage = z
  .object({ attempts: z.array(attempt), nextBefore: timestamp.nullable() })
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
    async ({ params: { taskId }, query: { limit, before } }) => {
      const records = await attempts.list(taskId, limit + 1, before);
      if (records.length === 0) assertFound(await board.get(taskId), 'task', taskId);
      const page = records.slice(0, limit);
      const more = records.length > limit;
      return { attempts: page.map(presentAttempt), nextBefore: more ? (page.at(-1)?.createdAt ?? null) : null };
    },
  );
}
