import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  type LineComment,
  lineComment,
  lineCommentCreate,
  lineCommentId,
  type LineCommentPatch,
  lineCommentPatch,
  lineCommentQuery,
  maxLineComments,
} from '../../../contracts/tasks/line-comment';
import { assertFound, conflict, notFound } from '../../../platform/errors/app-error';
import type { StatedRevision } from '../../../platform/http/limits/precondition';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import type { ApiContext } from '../../context';
import { assertRevision, statedRevision, withRevision } from '../../revisions';
import { attemptOfTask } from '../../runs/attempts/attempt';
import { newItemId } from '../tasks/items';
import { plainField } from '../tasks/plain-text';
import { settleSends } from './settle';

const tag = 'line-comments';
const type = 'line-comments';
const resource = 'line-comment';
const path = '/diff/:taskId/comments';
const taskParams = z.strictObject({ taskId });
const commentParams = z.strictObject({ taskId, commentId: lineCommentId });
const read = { method: 'get' as const, tag, permission: 'task:read', errors: [404] };
const write = { tag, permission: 'comment:write', errors: [404, 409] };

export type LineCommentsContext = Pick<
  ApiContext,
  'attempts' | 'board' | 'conversations' | 'launches' | 'lineComments'
>;

/** Comments on lines of the files that a task changes; they are stored with the task, and sent to its agent as a follow-up. */
export function lineCommentRoutes(routes: Routes, context: LineCommentsContext): void {
  const { lineComments } = context;

  routes.add(
    {
      ...read,
      path,
      operationId: 'listLineComments',
      summary: 'List comments on lines of a change, oldest first',
      params: taskParams,
      query: lineCommentQuery,
      response: z.array(lineComment),
    },
    async ({ params, query }) => {
      await assertTask(context, params.taskId);
      await settleSends(context, params.taskId);
      return lineComments.page(params.taskId, query);
    },
  );

  routes.add(
    {
      ...read,
      path: `${path}/:commentId`,
      operationId: 'getLineComment',
      summary: 'Read a comment on a line',
      params: commentParams,
      response: lineComment,
    },
    async ({ params }, ctx) => withRevision(ctx, type, await findComment(context, params)),
  );

  routes.add(
    {
      ...write,
      method: 'post',
      path,
      operationId: 'addLineComment',
      summary: 'Add a comment on a line of a file that a task changes',
      params: taskParams,
      body: lineCommentCreate,
      response: lineComment,
      status: 201,
    },
    async ({ params, body: { author, ...place }, auth }, ctx) => {
      await assertTask(context, params.taskId);
      if (place.attemptId !== undefined) {
        await attemptOfTask(context, params.taskId, place.attemptId);
      }
      const at = operationTime().toISOString();
      const added = await lineComments.add({
        id: newItemId('linecomment'),
        taskId: params.taskId,
        ...place,
        author: plainField(author ?? auth.tokenName, 'author'),
        state: 'open',
        revision: 1,
        createdAt: at,
        createdBy: auth.actor,
        updatedAt: at,
        updatedBy: auth.actor,
      });
      if (!added) {
        throw conflict(`A task has at most ${maxLineComments} comments on lines; delete some first.`, {
          taskId: params.taskId,
        });
      }
      return withRevision(ctx, type, added);
    },
  );

  routes.add(
    {
      ...write,
      method: 'patch',
      path: `${path}/:commentId`,
      operationId: 'changeLineComment',
      summary: 'Change a comment on a line: resolve, reopen or edit it',
      params: commentParams,
      body: lineCommentPatch,
      response: lineComment,
    },
    async ({ params, body, auth, header }, ctx) => {
      const { expectedRevision: bodyRevision, ...patch } = body;
      const stated = { header, ...compact({ bodyRevision }) };
      return withRevision(ctx, type, await change(context, params, { patch, stated, actor: auth.actor }));
    },
  );

  routes.add(
    {
      ...write,
      method: 'delete',
      path: `${path}/:commentId`,
      operationId: 'deleteLineComment',
      summary: 'Delete a comment on a line',
      params: commentParams,
      response: z.undefined(),
      status: 204,
    },
    async ({ params, header }) => {
      const current = await findComment(context, params);
      const expectedRevision = await assertExpected(current, { header });
      if (!(await lineComments.remove(params.taskId, params.commentId, expectedRevision))) {
        throw notFound(resource, params.commentId);
      }
      return undefined;
    },
  );
}

/** @throws AppError 404 */
export async function assertTask({ board }: Pick<ApiContext, 'board'>, taskId: string): Promise<void> {
  assertFound(await board.get(taskId), 'task', taskId);
}

type CommentParams = z.output<typeof commentParams>;

async function findComment(
  { lineComments }: LineCommentsContext,
  { taskId, commentId }: CommentParams,
): Promise<LineComment> {
  const comment = await lineComments.get(taskId, commentId);
  assertFound(comment, resource, commentId);
  return comment;
}

/** The revision that a writer states. @throws AppError 409 when the comment is at another one */
async function assertExpected(current: LineComment, stated: StatedRevision): Promise<number | undefined> {
  const about = { type, id: current.id, current: () => Promise.resolve(current) };
  const expectedRevision = await statedRevision(about, stated);
  assertRevision(resource, current, { expectedRevision });
  return expectedRevision;
}

/** How often a change is tried for while others change the comment. */
const tries = 20;

async function change(
  context: LineCommentsContext,
  params: CommentParams,
  {
    patch,
    stated,
    actor,
  }: { patch: Omit<LineCommentPatch, 'expectedRevision'>; stated: StatedRevision; actor: string },
): Promise<LineComment> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    const current = await findComment(context, params);
    await assertExpected(current, stated);
    const { body = current.body, state = current.state } = patch;
    if (body === current.body && state === current.state) {
      return current;
    }
    if (body !== current.body && state !== 'open') {
      throw conflict(
        `The comment is ${current.state}; reopen it with {"state": "open"} to change its text.`,
        { resourceType: resource, resourceId: current.id, state: current.state },
        'LINE_COMMENT_NOT_OPEN',
      );
    }
    const changed = await context.lineComments.change(current, { body, state, updatedBy: actor });
    if (changed) {
      return changed;
    }
  }
  throw conflict('Others keep changing this comment. Try again.', { resourceId: params.commentId });
}
