import { z } from 'zod';
import { taskId } from '../../contracts/common';
import { taskContext } from '../../contracts/task-context';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import type { ApiContext } from '../context';
import { createGraphReader } from '../dependencies/read-graph';
import { attachmentContext } from './attachments';
import { dependencyContext } from './dependencies';

/** What somebody needs to know who begins to work on a task (specification 1, Tasks: context). */
export function taskContextRoutes(
  routes: Routes,
  { board, attachments }: Pick<ApiContext, 'board' | 'attachments'>,
): void {
  const graph = createGraphReader(board);
  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/context',
      operationId: 'getTaskContext',
      summary: 'Read a task with its dependencies, observations and attachments, for somebody who begins to work on it',
      tag: 'context',
      permission: 'task:read',
      params: z.strictObject({ taskId }),
      response: taskContext,
      errors: [409],
    },
    async ({ params }) => {
      const found = await board.get(params.taskId);
      assertFound(found, 'task', params.taskId);
      const { task } = found;
      const { id, title, description, type, status, priority, project, sprint } = task;
      return {
        ...{ taskId: id, title, description, type, status, priority, project, sprint },
        attachments: await attachmentContext(task, attachments),
        created: task.createdAt,
        updated: task.updatedAt,
        dependencies: await dependencyContext(board, graph(), task),
        observations: task.observations ?? [],
      };
    },
  );
}
