import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { task, taskCounts, taskCreate, taskList, taskPatch, taskQuery } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { assertOnBoard } from '../dependencies/blocked-by';
import { answerListing, createListing } from './listing';
import { assertNotRunning } from './locations';
import { withPlainTitles } from './plain-text';
import { answerTask, setTaskHeaders } from './present';
import { writerOf } from './task-changer';
import { createTaskPatcher } from './task-patcher';

const tag = 'tasks';
const idParams = z.strictObject({ taskId });

/** Tasks of the board: list, count, create, read, change, delete. */
export function taskRoutes(routes: Routes, context: Pick<ApiContext, 'board' | 'traces' | 'workspaceId'>): void {
  const { board, workspaceId } = context;
  const listing = createListing(board, { workspaceId });
  const patchTask = createTaskPatcher(context);

  routes.add(
    {
      method: 'get',
      path: '/tasks',
      operationId: 'listTasks',
      summary: 'List active tasks, most recently updated first',
      tag,
      permission: 'task:read',
      query: taskQuery,
      response: taskList,
    },
    async ({ query }, ctx) => answerListing(ctx, listing(query)),
  );

  routes.add(
    {
      method: 'get',
      path: '/tasks/counts',
      operationId: 'countTasks',
      summary: 'Count tasks by column, in the backlog and in the archive',
      tag,
      permission: 'task:read',
      response: taskCounts,
    },
    async () => board.counts(),
  );

  routes.add(
    {
      method: 'post',
      path: '/tasks',
      operationId: 'createTask',
      summary: 'Create a task',
      tag,
      permission: 'task:write',
      body: taskCreate,
      response: task,
      status: 201,
      errors: [409],
      audit: (_request, { id, title }) => ({ action: 'task.create', resource: id, details: { title } }),
    },
    async ({ body, auth }, ctx) => {
      await assertOnBoard(board, { blockedBy: body.blockedBy, path: 'blockedBy' });
      const created = await board.create(withPlainTitles(body), { actor: auth.actor });
      setTaskHeaders(ctx, created);
      ctx.set('Location', `/api/tasks/${created.id}`);
      return created;
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId',
      operationId: 'getTask',
      summary: 'Read a task',
      tag,
      permission: 'task:read',
      params: idParams,
      response: task,
      errors: [409],
    },
    async ({ params }, ctx) => {
      const boardTask = await board.get(params.taskId);
      assertFound(boardTask, 'task', params.taskId);
      return answerTask(ctx, boardTask.task);
    },
  );

  routes.add(
    {
      method: 'patch',
      path: '/tasks/:taskId',
      operationId: 'changeTask',
      summary: 'Update a task at the revision the caller has read',
      tag,
      permission: 'task:write',
      params: idParams,
      body: taskPatch,
      response: task,
      errors: [409],
    },
    (request, ctx) => patchTask(request, ctx),
  );

  routes.add(
    {
      method: 'delete',
      path: '/tasks/:taskId',
      operationId: 'deleteTask',
      summary: 'Delete a task; it can be restored for 30 days',
      tag,
      permission: 'task:write',
      params: idParams,
      response: z.undefined(),
      status: 204,
      errors: [409],
      audit: ({ params }) => ({ action: 'task.delete', resource: params.taskId }),
    },
    async (request) => {
      const writer = await writerOf(board, request);
      await board.remove(request.params.taskId, { ...writer, check: assertNotRunning });
      return undefined;
    },
  );
}
