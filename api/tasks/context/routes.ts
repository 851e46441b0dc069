import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { taskContext } from '../../../contracts/tasks/context';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { createGraphReader } from '../dependencies/read-graph';
import { attachmentContext } from './attachments';
import { dependencyContext } from './dependencies';

/** The context for beginning work on a task (specification 1, Tasks: context). */
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
      summary: 'Read a task with its dependencies, observations and attachments',
      tag: 'context',
      permission: 'task:read',
      params: z.strictObject({ taskId }),
      response: taskContext,
      errors: [409],
    },
    async ({ params }) => {
      const boardTask = await board.get(params.taskId);
      assertFound(boardTask, 'task', params.taskId);
      const { task } = boardTask;
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
