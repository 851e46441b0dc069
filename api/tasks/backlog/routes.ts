import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { asTaskQuery, backlogCount, backlogCreate, backlogQuery, bulkPromoted } from '../../../contracts/tasks/backlog';
import { taskSelection } from '../../../contracts/tasks/bulk';
import { type Task, task, taskList, type TaskLocation, taskPatch } from '../../../contracts/tasks/task';
import { notFound } from '../../../platform/errors/app-error';
import { answersNotModified } from '../../../platform/http/response';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { assertOnBoard } from '../dependencies/blocked-by';
import { applyToMany } from '../tasks/apply-to-many';
import { answerListing, createListing } from '../tasks/listing';
import { moveTask, promoting } from '../tasks/moves';
import { withPlainTitles } from '../tasks/plain-text';
import { setTaskHeaders, taskTag } from '../tasks/present';
import { writerOf } from '../tasks/task-changer';
import { createTaskPatcher } from '../tasks/task-patcher';

const tag = 'backlog';
const idParams = z.strictObject({ taskId });

/** Tasks elsewhere are no part of this collection. */
function assertInBacklog({ id }: Task, location: TaskLocation): void {
  if (location !== 'backlog') {
    throw notFound('backlog task', id);
  }
}

/** Tasks that are not begun: separate from the board until they are promoted. */
export function backlogRoutes(routes: Routes, context: Pick<ApiContext, 'board' | 'traces' | 'workspaceId'>): void {
  const { board, workspaceId } = context;
  const listing = createListing(board, {
    workspaceId,
    location: 'backlog',
    path: '/api/backlog',
    operationId: 'listBacklog',
  });
  const patchTask = createTaskPatcher(context);

  routes.add(
    {
      method: 'get',
      path: '/backlog',
      operationId: 'listBacklog',
      summary: 'List the backlog, most recently updated first',
      tag,
      permission: 'task:read',
      query: backlogQuery,
      response: taskList,
    },
    async ({ query }, ctx) => answerListing(ctx, listing(asTaskQuery(query), query)),
  );

  routes.add(
    {
      method: 'get',
      path: '/backlog/count',
      operationId: 'countBacklog',
      summary: 'Count tasks in the backlog',
      tag,
      permission: 'task:read',
      response: backlogCount,
    },
    async () => ({ count: board.list({ limit: 1 }, 'backlog').total }),
  );

  routes.add(
    {
      method: 'post',
      path: '/backlog',
      operationId: 'createBacklogTask',
      summary: 'Create a task in the backlog',
      tag,
      permission: 'task:write',
      body: backlogCreate,
      response: task,
      status: 201,
      errors: [409],
      audit: (_request, { id, title }) => ({ action: 'backlog.create', resource: id, details: { title } }),
    },
    async ({ body, auth }, ctx) => {
      await assertOnBoard(board, { blockedBy: body.blockedBy, path: 'blockedBy' });
      const created = await board.create(withPlainTitles(body), { actor: auth.actor, location: 'backlog' });
      setTaskHeaders(ctx, created);
      ctx.set('Location', `/api/backlog/${created.id}`);
      return created;
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/backlog/:taskId',
      operationId: 'getBacklogTask',
      summary: 'Read a backlog task',
      tag,
      permission: 'task:read',
      params: idParams,
      response: task,
      errors: [409],
    },
    async ({ params }, ctx) => {
      const boardTask = await board.get(params.taskId);
      if (boardTask?.location !== 'backlog') {
        throw notFound('backlog task', params.taskId);
      }
      setTaskHeaders(ctx, boardTask.task);
      return answersNotModified(ctx, taskTag(boardTask.task)) ? undefined : boardTask.task;
    },
  );

  routes.add(
    {
      method: 'patch',
      path: '/backlog/:taskId',
      operationId: 'changeBacklogTask',
      summary: 'Update a backlog task',
      tag,
      permission: 'task:write',
      params: idParams,
      body: taskPatch,
      response: task,
      errors: [409],
      audit: ({ params, body }) => ({
        action: 'backlog.update',
        resource: params.taskId,
        details: { fields: Object.keys(body) },
      }),
    },
    (request, ctx) => patchTask(request, ctx, assertInBacklog),
  );

  routes.add(
    {
      method: 'delete',
      path: '/backlog/:taskId',
      operationId: 'deleteBacklogTask',
      summary: 'Delete a backlog task; it can be restored for 30 days',
      tag,
      permission: 'task:write',
      params: idParams,
      response: z.undefined(),
      status: 204,
      errors: [409],
      audit: ({ params }) => ({ action: 'backlog.delete', resource: params.taskId }),
    },
    async (request) => {
      const writer = await writerOf(board, request);
      await board.remove(request.params.taskId, { ...writer, check: assertInBacklog });
      return undefined;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/backlog/:taskId/promote',
      operationId: 'promoteTask',
      summary: 'Move a backlog task to the board as todo',
      tag,
      permission: 'task:write',
      params: idParams,
      response: task,
      errors: [409],
      audit: ({ params }) => ({ action: 'task.promoted', resource: params.taskId }),
    },
    async (request, ctx) => {
      const promoted = await moveTask(board, request.params.taskId, {
        move: promoting,
        writer: await writerOf(board, request),
      });
      setTaskHeaders(ctx, promoted);
      return promoted;
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/backlog/bulk-promote',
      operationId: 'promoteTasks',
      summary: 'Move up to 100 backlog tasks to the board as todo',
      tag,
      permission: 'task:write',
      body: taskSelection,
      response: bulkPromoted,
      audit: (_request, { promoted: taskIds }) => ({ action: 'backlog.bulk_promote', details: { taskIds } }),
    },
    async ({ body, auth }) => {
      const ids = body.taskIds ?? body.ids ?? [];
      const { done, failed } = await applyToMany(ids, (id) =>
        moveTask(board, id, { move: promoting, writer: { actor: auth.actor } }),
      );
      return { promoted: done, count: done.length, failed };
    },
  );
}
