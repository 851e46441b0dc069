import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  cleanupQuery,
  worktreeAdopt,
  worktreeCommit,
  worktreeCreate,
  worktreeMerge,
  worktreeRebase,
  worktreeRemoval,
} from '../../../contracts/runs/worktrees/request';
import {
  cleanupPreview,
  cleanupPreviewPage,
  editorOpened,
  worktreeStatus,
} from '../../../contracts/runs/worktrees/worktree';
import { authorize } from '../../../platform/http/auth/authorize';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { assertAllowed } from '../../governance/assert-allowed';
import { refusalError } from '../../refusal-error';
import type { WorktreesContext } from './context';
import { assertMayMerge } from './may-merge';
import { expiredWorktrees, manifestOf, operate, readWorktree } from './read';

const tag = 'worktrees';
const taskParams = z.strictObject({ taskId });
const path = '/tasks/:taskId/worktree';

/** The git worktree of a task: made, inspected, moved forward, merged and removed. */
export function worktreeRoutes(routes: Routes, context: WorktreesContext & Pick<WorkflowContext, 'rules'>): void {
  readRoutes(routes, context);

  routes.add(
    {
      method: 'post',
      path,
      operationId: 'createWorktree',
      summary: 'Create the worktree of a task from its base; return an existing one',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: worktreeCreate,
      response: worktreeStatus,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) =>
      operate(context, params.taskId, { request: { kind: 'create', ...body }, actor: auth.actor }),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/adopt`,
      operationId: 'adoptWorktree',
      onHosts: true,
      summary: 'Adopt the worktree of a task that has no manifest',
      tag,
      permission: 'admin:manage',
      params: taskParams,
      body: worktreeAdopt,
      response: worktreeStatus,
      errors: [404, 409, 503],
      audit: ({ params }) => ({ action: 'worktree.adopt', resource: params.taskId }),
    },
    ({ params, body, auth }) =>
      operate(context, params.taskId, { request: { kind: 'adopt', ...body }, actor: auth.actor }),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/rebase`,
      operationId: 'rebaseWorktree',
      summary: 'Fetch the base and rebase the branch onto an exact commit',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: worktreeRebase,
      response: worktreeStatus,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) =>
      operate(context, params.taskId, { request: { kind: 'rebase', ...body }, actor: auth.actor }),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/commit`,
      operationId: 'commitWorktree',
      summary: 'Commit what is not committed in a worktree, new files too',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: worktreeCommit,
      response: worktreeStatus,
      errors: [404, 409, 503],
    },
    ({ params, body, auth }) =>
      operate(context, params.taskId, { request: { kind: 'commit', ...body }, actor: auth.actor }),
  );

  routes.add(
    {
      method: 'post',
      path: `${path}/merge`,
      operationId: 'mergeWorktree',
      summary: 'Merge the branch into its base without changing the primary checkout',
      tag,
      permission: 'task:write',
      params: taskParams,
      body: worktreeMerge,
      response: worktreeStatus,
      errors: [403, 404, 409, 503],
    },
    async ({ params, body, auth }) => {
      await assertAllowed(context, 'merge', { taskId: params.taskId, actor: auth.actor, subject: body });
      const anyBranch = await assertMayMerge(context, params.taskId, auth);
      return operate(context, params.taskId, { request: { kind: 'merge', ...body, ...anyBranch }, actor: auth.actor });
    },
  );

  routes.add(
    {
      method: 'delete',
      path,
      operationId: 'removeWorktree',
      summary: 'Remove a worktree if that is safe, or by force with a reason',
      tag,
      permission: 'task:write',
      params: taskParams,
      query: worktreeRemoval,
      response: worktreeStatus,
      errors: [403, 404, 409, 503],
      audit: ({ params, query }) =>
        query.force
          ? { action: 'worktree.force-delete', resource: params.taskId, details: { reason: query.reason } }
          : undefined,
    },
    async ({ params, query, auth }, ctx) => {
      if (query.force) {
        authorize(auth, 'admin:manage', { method: ctx.method });
        await assertAllowed(context, 'force', { taskId: params.taskId, actor: auth.actor, subject: query });
      }
      await manifestOf(context, params.taskId);
      return operate(context, params.taskId, { request: { kind: 'cleanup', ...query }, actor: auth.actor });
    },
  );
}

function readRoutes(routes: Routes, context: WorktreesContext): void {
  routes.add(
    {
      method: 'get',
      path: '/tasks/worktrees/cleanup-preview',
      operationId: 'previewExpiredWorktrees',
      summary: 'List worktrees with an expired lease and what blocks their removal',
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
      summary: 'Read a worktree manifest with its current git state',
      tag,
      permission: 'task:read',
      params: taskParams,
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
      summary: 'Preview what blocks the removal of a worktree',
      tag,
      permission: 'task:read',
      params: taskParams,
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
      onHosts: true,
      summary: 'Open a worktree in the configured editor of its host',
      tag,
      // It starts a program, which an inspection does not.
      permission: 'task:write',
      params: taskParams,
      response: editorOpened,
      errors: [404, 409, 503],
    },
    async ({ params }) => {
      const { hostId } = await manifestOf(context, params.taskId);
      const opened = await context.worktreeLauncher.open({ taskId: params.taskId, hostId });
      if ('status' in opened) {
        throw refusalError(opened);
      }
      return opened;
    },
  );
}
