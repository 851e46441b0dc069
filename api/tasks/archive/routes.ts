import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import {
  archived,
  archiveSuggestion,
  bulkArchive,
  bulkArchived,
  restoredTask,
  sprintArchived,
  sprintName,
  suggestionQuery,
} from '../../../contracts/tasks/archive';
import { taskSelection } from '../../../contracts/tasks/bulk';
import { taskList, taskQuery } from '../../../contracts/tasks/task';
import type { Routes } from '../../../platform/http/routing/routes';
import { offsetOfPage } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { applyToMany } from '../tasks/apply-to-many';
import { listAllTasks } from '../tasks/list-all-tasks';
import { answerListing, createListing } from '../tasks/listing';
import { archiving, moveTask } from '../tasks/moves';
import { setTaskHeaders } from '../tasks/present';
import { writerOf } from '../tasks/task-changer';
import { restoreTask } from './restore';
import { archiveSprint, finishedSprints } from './sprints';

const tag = 'archive';
const idParams = z.strictObject({ taskId });
const changes = { tag, method: 'post' as const, permission: 'task:write', errors: [409] };

/** Tasks that are over: put away, listed, brought back (specification 1, "States and transitions"). */
export function archiveRoutes(routes: Routes, { board, workspaceId }: Pick<ApiContext, 'board' | 'workspaceId'>): void {
  const listing = createListing(board, {
    workspaceId,
    location: 'archive',
    path: '/api/tasks/archived',
    operationId: 'listArchivedTasks',
  });

  routes.add(
    {
      method: 'get',
      path: '/tasks/archived',
      operationId: 'listArchivedTasks',
      summary: 'List archived tasks without deleted ones, most recently updated first',
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
      path: '/tasks/archive/suggestions',
      operationId: 'suggestArchival',
      summary: 'List sprints whose active tasks are all done',
      tag,
      permission: 'task:read',
      query: suggestionQuery,
      response: z.array(archiveSuggestion),
    },
    async ({ query: { page, limit, cursor } }) => {
      const active = listAllTasks(board, ['active']).map((one) => one.task);
      const part = { limit, cursor, offset: offsetOfPage(page, limit) };
      return slicePage(finishedSprints(active), part, { positionOf: ({ sprint }) => ({ key: sprint, id: sprint }) });
    },
  );

  routes.add(
    {
      ...changes,
      path: '/tasks/:taskId/archive',
      operationId: 'archiveTask',
      summary: 'Archive an active task of any status',
      params: idParams,
      response: archived,
      audit: (_request, { id }) => ({ action: 'task.archive', resource: id }),
    },
    async (request, ctx) => {
      const { taskId: id } = request.params;
      setTaskHeaders(ctx, await moveTask(board, id, { move: archiving, writer: await writerOf(board, request) }));
      return { archived: true as const, id };
    },
  );

  routes.add(
    {
      ...changes,
      path: '/tasks/:taskId/restore',
      operationId: 'restoreTask',
      summary: 'Restore an archived task, or a deleted one within 30 days, as done',
      params: idParams,
      response: restoredTask,
      audit: (_request, { id }) => ({ action: 'task.restore', resource: id }),
    },
    async (request, ctx) => {
      const writer = await writerOf(board, request);
      const { task, metadata } = await restoreTask(board, request.params.taskId, { writer, now: new Date() });
      setTaskHeaders(ctx, task);
      return { ...task, restoreMetadata: metadata };
    },
  );

  routes.add(
    {
      ...changes,
      path: '/tasks/archive/sprint/:sprint',
      operationId: 'archiveSprint',
      summary: 'Archive the done tasks of a sprint',
      params: z.strictObject({ sprint: sprintName }),
      response: sprintArchived,
      audit: ({ params }, { taskIds }) => ({
        action: 'tasks.bulk_archive',
        details: { sprint: params.sprint, taskIds },
      }),
    },
    async ({ params, auth }) => {
      const { done, failed } = await archiveSprint(board, params.sprint, auth.actor);
      return { archived: done.length, taskIds: done, failed };
    },
  );

  routes.add(
    {
      ...changes,
      path: '/tasks/bulk-archive',
      operationId: 'archiveSprintByName',
      summary: 'Archive the done tasks of the sprint in the body',
      body: bulkArchive,
      response: bulkArchived,
      audit: ({ body }, { archived: taskIds }) => ({
        action: 'tasks.bulk_archive',
        details: { sprint: body.sprint, taskIds },
      }),
    },
    async ({ body, auth }) => {
      const { done, failed } = await archiveSprint(board, body.sprint, auth.actor);
      return { archived: done, count: done.length, failed };
    },
  );

  routes.add(
    {
      ...changes,
      path: '/tasks/bulk-archive-by-ids',
      operationId: 'archiveTasks',
      summary: 'Archive up to 100 active tasks',
      body: taskSelection,
      response: bulkArchived,
      audit: (_request, { archived: taskIds }) => ({ action: 'tasks.bulk_archive', details: { taskIds } }),
    },
    async ({ body, auth }) => {
      const ids = body.taskIds ?? body.ids ?? [];
      const { done, failed } = await applyToMany(ids, (id) =>
        moveTask(board, id, { move: archiving, writer: { actor: auth.actor } }),
      );
      return { archived: done, count: done.length, failed };
    },
  );
}
