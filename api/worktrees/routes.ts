import { z } from 'zod';
import { taskId } from '../../contracts/common';
import { cleanupPreview, cleanupPreviewPage, editorOpened, worktreeStatus } from '../../contracts/worktree';
import {
  cleanupQuery,
  worktreeAdopt,
  worktreeCreate,
  worktreeMerge,
  worktreeRebase,
  worktreeRemoval,
} from '../../contracts/worktree-request';
import { authorize } from '../../platform/http/authorize';
import type { Routes } from '../../platform/http/routes';
import { refusalError } from '../../runs/refusal';
import type { WorktreesContext } from './context';
import { assertMayMerge } from './may-merge';
import { expiredWorktrees, manifestOf, operate, readWorktree } from './read';

const tag = 'worktrees';
const ofTask = z.strictObject({ taskId });
const path = '/tasks/:taskId/worktree';

/** The git worktree of a task: made, looked at, moved forward, merged and removed. */
export function worktreeRoutes(routes: Routes, context: WorktreesContext): void {
  readRoutes(routes, context);

  routes.add(
    {
      method: 'post',
      path,
      operationId: 'createWorktree',
      summary: 'Resolve the base and create the worktree; one that is there is the answer',
      tag,
      permission: 'task:write',
      params: ofTask,
      body: worktreeCreate,
      response: worktreeStatus,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) => operate(context, params.taskId, { kind: 'create', ...body }, auth.actor),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/adopt`,
      operationId: 'adoptWorktree',
      summary: 'Take over the worktree that the task names without a manifest',
      tag,
      permission: 'admin:manage',
      params: ofTask,
      body: worktreeAdopt,
      response: worktreeStatus,
      errors: [404, 409, 503],
      audit: ({ params }) => ({ action: 'worktree.adopt', resource: params.taskId }),
    },
    ({ params, body, auth }) => operate(context, params.taskId, { kind: 'adopt', ...body }, auth.actor),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/rebase`,
      operationId: 'rebaseWorktree',
      summary: 'Fetch the base and rebase the branch onto an exact commit',
      tag,
      permission: 'task:write',
      params: ofTask,
      body: worktreeRebase,
      response: worktreeStatus,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) => operate(context, params.taskId, { kind: 'rebase', ...body }, auth.actor),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/merge`,
      operationId: 'mergeWorktree',
      summary: 'Merge the branch into its base without touching the primary checkout',
      tag,
      permission: 'task:write',
      params: ofTask,
      body: worktreeMerge,
      response: worktreeStatus,
      errors: [403, 404, 409, 503],
    },
    async ({ params, body, auth }) => {
      const anyBranch = await assertMayMerge(context, params.taskId, auth);
      return operate(context, params.taskId, { kind: 'merge', ...body, ...anyBranch }, auth.actor);
    },
  );

  routes.add(
    {
      method: 'delete',
      path,
      operationId: 'removeWorktree',
      summary: 'Remove the worktree when that is safe, or by force with a reason',
      tag,
      permission: 'task:write',
      params: ofTask,
      query: worktreeRemoval,
      response: worktreeStatus,
      errors: [403, 404, 409, 503],
      audit: ({ params, query }) =>
        query.force
          ? { action: 'worktree.force-delete', resource: params.taskId, details: { reason: query.reason } }
          : undefined,
    },
    async ({ params, query, auth }, ctx) => {
      if (query.force) authorize(auth, 'admin:manage', ctx.method);
      await manifestOf(context, params.taskId);
      return operate(context, params.taskId, { kind: 'cleanup', ...query }, auth.actor);
    },
  );
}

function readRoutes(routes: Routes, context: WorktreesContext): void {
  routes.add(
    {
      method: 'get',
      path: '/tasks/worktrees/cleanup-preview',
      operationId: 'previewExpiredWorktrees',
      summary: 'List worktrees whose lease is over, with what a removal of each would meet',
      tag,
      permission: 'task:read',
      query: cleanupQuery,
      response: cleanupPreviewPage,
      errors: [503],
    },
    ({ query }) => expiredWorktrees(context, query),
  );

  routes.add(
    {
      method: 'get',
      path,
      operationId: 'getWorktree',
      summary: 'Read the manifest of the worktree and what git says of it now',
      tag,
      permission: 'task:read',
      params: ofTask,
      response: worktreeStatus,
      errors: [404, 503],
    },
    ({ params }) => readWorktree(context, params.taskId),
  );

  routes.add(
    {
      method: 'get',
      path: `${path}/cleanup-preview`,
      operationId: 'previewWorktreeCleanup',
      summary: 'See what speaks against removing the worktree',
      tag,
      permission: 'task:read',
      params: ofTask,
      response: cleanupPreview,
      errors: [404, 503],
    },
    async ({ params }) => (await readWorktree(context, params.taskId)).cleanupPreview,
  );

  routes.add(
    {
      method: 'get',
      path: `${path}/open`,
      operationId: 'openWorktree',
      summary: 'Open the configured editor on the worktree, on its host',
      tag,
      // It starts a program, which looking does not.
      permission: 'task:write',
      params: ofTask,
      response: editorOpened,
      errors: [404, 409, 503],
    },
    async ({ params }) => {
      const { hostId } = await manifestOf(context, params.taskId);
      const opened = await context.launcher.open({ taskId: params.taskId, hostId });
      if ('status' in opened) throw refusalError(opened);
      return opened;
    },
  );
}
