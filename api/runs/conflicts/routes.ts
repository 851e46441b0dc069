import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  conflictAborted,
  conflictContinue,
  conflictContinued,
  conflictFile,
  conflictFileQuery,
  conflictResolution,
  conflictResolved,
  conflictState,
} from '../../../contracts/runs/conflict';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { manifestOf } from '../worktrees/read';
import type { ConflictsContext } from './context';
import { operate, readConflictFile, readConflicts } from './read';

const path = '/conflicts/:taskId';
const shared = { tag: 'conflicts', params: z.strictObject({ taskId }) };
const reading = { ...shared, method: 'get' as const, permission: 'task:read', errors: [404, 409, 413, 503] };
const changing = { ...shared, method: 'post' as const, permission: 'task:write', errors: [404, 409, 503] };

/** Conflicts that a rebase or merge has left in the worktree of a task: read, resolved, continued or aborted. */
export function conflictRoutes(routes: Routes, context: ConflictsContext): void {
  routes.add(
    {
      ...reading,
      path,
      operationId: 'getConflicts',
      summary: 'Read which files of a worktree are in conflict, and what has stopped at them',
      response: conflictState,
    },
    ({ params }) => readConflicts(context, params.taskId),
  );

  routes.add(
    {
      ...reading,
      path: `${path}/file`,
      operationId: 'getConflictFile',
      summary: 'Read a file in conflict in all its versions',
      query: conflictFileQuery,
      response: conflictFile,
    },
    ({ params, query }) => readConflictFile(context, params.taskId, query.path),
  );

  routes.add(
    {
      ...changing,
      path: `${path}/resolve`,
      operationId: 'resolveConflict',
      summary: 'Resolve a file in conflict by one of its versions or by a text',
      query: conflictFileQuery,
      body: conflictResolution,
      response: conflictResolved,
    },
    async ({ params, query, body, auth }) => {
      const { resolution, manualContent } = body;
      await manifestOf(context, params.taskId);
      const content =
        manualContent === undefined ? undefined : await context.conflictResolutions.put(params.taskId, manualContent);
      const request = { kind: 'resolve' as const, path: query.path, resolution, ...compact({ content }) };
      await operate(context, params.taskId, { request, actor: auth.actor });
      const { conflictingFiles } = await readConflicts(context, params.taskId);
      return { success: true as const, remainingConflicts: conflictingFiles };
    },
  );

  endRoutes(routes, context);
}

function endRoutes(routes: Routes, context: ConflictsContext): void {
  routes.add(
    {
      ...changing,
      path: `${path}/abort`,
      operationId: 'abortConflict',
      summary: 'Abort a rebase or merge that has stopped; bring the worktree back to how it was',
      response: conflictAborted,
    },
    async ({ params, auth }) => {
      await operate(context, params.taskId, { request: { kind: 'abort' }, actor: auth.actor });
      const { history } = await manifestOf(context, params.taskId);
      const keptRef = history.findLast(({ kind }) => kind === 'abort')?.keptRef ?? null;
      return { aborted: true as const, keptRef };
    },
  );

  routes.add(
    {
      ...changing,
      path: `${path}/continue`,
      operationId: 'continueConflict',
      summary: 'Commit what was resolved and continue the rebase or merge',
      body: conflictContinue,
      response: conflictContinued,
    },
    async ({ params, body, auth }) => {
      await operate(context, params.taskId, { request: { kind: 'continue', ...body }, actor: auth.actor });
      const { taskId: _taskId, ...state } = await readConflicts(context, params.taskId);
      return { completed: state.operation === null, headSha: state.oursCommit, ...state };
    },
  );
}
