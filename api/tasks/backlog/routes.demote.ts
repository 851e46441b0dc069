import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { bulkDemoted } from '../../../contracts/tasks/backlog';
import { taskSelection } from '../../../contracts/tasks/bulk';
import { task } from '../../../contracts/tasks/task';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { applyToMany } from '../tasks/apply-to-many';
import { demoting, moveTask } from '../tasks/moves';
import { setTaskHeaders } from '../tasks/present';
import { writerOf } from '../tasks/task-changer';

const changes = { tag: 'backlog', method: 'post' as const, permission: 'task:write', errors: [409] };

/** The way from the board back to the backlog. */
export function demoteRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  routes.add(
    {
      ...changes,
      path: '/tasks/:taskId/demote',
      operationId: 'demoteTask',
      summary: 'Move an active task to the backlog; its status is unchanged',
      params: z.strictObject({ taskId }),
      response: task,
      audit: ({ params }) => ({ action: 'task.demoted', resource: params.taskId }),
    },
    async (request, ctx) => {
      const demoted = await moveTask(board, request.params.taskId, {
        move: demoting,
        writer: await writerOf(board, request),
      });
      setTaskHeaders(ctx, demoted);
      return demoted;
    },
  );

  routes.add(
    {
      ...changes,
      path: '/backlog/bulk-demote',
      operationId: 'demoteTasks',
      summary: 'Move up to 100 active tasks to the backlog',
      body: taskSelection,
      response: bulkDemoted,
      audit: (_request, { demoted: taskIds }) => ({ action: 'backlog.bulk_demote', details: { taskIds } }),
    },
    async ({ body, auth }) => {
      const ids = body.taskIds ?? body.ids ?? [];
      const { done, failed } = await applyToMany(ids, (id) =>
        moveTask(board, id, { move: demoting, writer: { actor: auth.actor } }),
      );
      return { demoted: done, count: done.length, failed };
    },
  );
}
