import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { comment, commentCreate, commentPatch } from '../../../contracts/tasks/comment';
import { task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { newItemId, withItemChanged, withoutItem } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { createTaskChanger } from '../tasks/task-changer';

const tag = 'comments';
const taskParams = z.strictObject({ taskId });
const commentParams = z.strictObject({ taskId, commentId: z.string().max(64) });
const changes = { tag, permission: 'comment:write', response: task, errors: [409] };

/** Comments of people and agents on a task (specification 1, Verification, comments, …). Every change returns the task. */
export function commentRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  const changeTask = createTaskChanger(board);

  routes.add(
    {
      method: 'get',
      path: '/tasks/:taskId/comments',
      operationId: 'listComments',
      summary: 'List comments on a task, oldest first',
      tag,
      permission: 'task:read',
      params: taskParams,
      response: z.array(comment),
      errors: [409],
    },
    async ({ params }) => {
      const boardTask = await board.get(params.taskId);
      assertFound(boardTask, 'task', params.taskId);
      return boardTask.task.comments ?? [];
    },
  );

  routes.add(
    {
      ...changes,
      method: 'post',
      path: '/tasks/:taskId/comments',
      operationId: 'addComment',
      summary: 'Add a comment to a task',
      params: taskParams,
      body: commentCreate,
      status: 201,
    },
    (request, ctx) => {
      const { body, auth } = request;
      const added = {
        id: newItemId('comment'),
        author: plainField(body.author ?? auth.tokenName, 'author'),
        text: plainField(body.text, 'text'),
        timestamp: operationTime().toISOString(),
        revision: 1,
        createdBy: auth.actor,
        updatedBy: auth.actor,
      };
      return changeTask(request, ctx, ({ comments = [] }) => ({ comments: [...comments, added] }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'patch',
      path: '/tasks/:taskId/comments/:commentId',
      operationId: 'changeComment',
      summary: 'Update the text of a comment',
      params: commentParams,
      body: commentPatch,
    },
    (request, ctx) => {
      const stamps = { updated: new Date().toISOString(), updatedBy: request.auth.actor };
      const text = plainField(request.body.text, 'text');
      return changeTask(request, ctx, ({ comments }) => ({
        comments: withItemChanged(comments, { id: request.params.commentId, resource: 'comment' }, (before) =>
          before.text === text ? before : { ...before, ...stamps, text, revision: before.revision + 1 },
        ),
      }));
    },
  );

  routes.add(
    {
      ...changes,
      method: 'delete',
      path: '/tasks/:taskId/comments/:commentId',
      operationId: 'deleteComment',
      summary: 'Delete a comment',
      params: commentParams,
    },
    (request, ctx) =>
      changeTask(request, ctx, ({ comments }) => ({
        comments: withoutItem(comments, request.params.commentId, 'comment'),
      })),
  );
}
