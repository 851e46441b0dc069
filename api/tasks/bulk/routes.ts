import { bulkUpdate, bulkUpdated, reordered, taskOrder } from '../../../contracts/tasks/bulk';
import type { TaskPatch } from '../../../contracts/tasks/task';
import type { Routes } from '../../../platform/http/routing/routes';
import type { ApiContext } from '../../context';
import { checkingBlockedBy } from '../dependencies/blocked-by';
import { applyToMany } from '../tasks/apply-to-many';
import { assertKeepsReview } from '../tasks/assert-keeps-review';
import { taskChange } from '../tasks/change';
import { assertNotArchived } from '../tasks/locations';
import { withPlainTitles } from '../tasks/plain-text';
import { reorder } from './reorder';

const changes = { tag: 'bulk', method: 'post' as const, permission: 'task:write', errors: [409] };

/** Changes of many tasks at once: each task is one step of its own, the whole is none. */
export function bulkRoutes(routes: Routes, { board }: Pick<ApiContext, 'board'>): void {
  routes.add(
    {
      ...changes,
      path: '/tasks/reorder',
      operationId: 'reorderTasks',
      summary: 'Reorder up to 1000 active tasks to positions 0, 1, 2, …',
      body: taskOrder,
      response: reordered,
      errors: [...changes.errors, 404],
    },
    async ({ body, auth }) => ({
      updated: await reorder(board, body.taskIds ?? body.orderedIds ?? [], auth.actor),
    }),
  );

  routes.add(
    {
      ...changes,
      path: '/tasks/bulk-update',
      operationId: 'updateTasks',
      summary: 'Update the same fields of up to 100 tasks; blocked tasks can be started',
      body: bulkUpdate,
      response: bulkUpdated,
      audit: (_request, { updated: taskIds }) => ({ action: 'tasks.bulk_update', details: { taskIds } }),
    },
    async ({ body, auth }) => {
      const patch: TaskPatch = body.updates ? withPlainTitles(body.updates, 'updates.') : { status: body.status };
      const { done, failed } = await applyToMany(body.taskIds ?? body.ids ?? [], (id) =>
        checkingBlockedBy(board, { id, blockedBy: patch.blockedBy, path: 'updates.blockedBy' }, (assertHeld) =>
          board.update(
            id,
            (current, location) => {
              assertHeld();
              assertNotArchived(current, location);
              const changed = taskChange(patch, current);
              assertKeepsReview(current, changed, auth);
              return changed;
            },
            { actor: auth.actor },
          ),
        ),
      );
      return { updated: done, count: done.length, failed };
    },
  );
}
