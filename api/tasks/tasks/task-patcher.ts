import type { Task, TaskPatchRequest } from '../../../contracts/tasks/task';
import type { HttpContext } from '../../../platform/http/context';
import type { TaskChange } from '../../../stores/board-files/types';
import type { ApiContext } from '../../context';
import { createBeginGate, traceBlocked } from '../dependencies/begin-gate';
import { checkingBlockedBy } from '../dependencies/blocked-by';
import { assertKeepsReview, type ReviewingCaller } from './assert-keeps-review';
import { taskChange } from './change';
import { withPlainTitles } from './plain-text';
import { createTaskChanger, type TaskChangeRequest } from './task-changer';

type PatchRequest = Omit<TaskChangeRequest, 'auth'> & {
  body: TaskPatchRequest;
  auth: TaskChangeRequest['auth'] & ReviewingCaller;
};

/**
 * Patches a task for a person or an agent, whatever its route: through every gate there is.
 *
 * @param assertLocation throws to refuse a task that is not where the route expects it; runs under the task's lock
 */
export type PatchTask = (
  request: PatchRequest,
  ctx: HttpContext,
  assertLocation?: (...of: Parameters<TaskChange>) => void,
) => Promise<Task>;

export function createTaskPatcher({ board, traces }: Pick<ApiContext, 'board' | 'traces'>): PatchTask {
  const changeTask = createTaskChanger(board);
  const beginGate = createBeginGate(board);
  return async (request, ctx, assertLocation) => {
    const patch = withPlainTitles(request.body);
    const assertMayBegin = await beginGate(request.params.taskId, patch.status);
    const { blockedBy } = patch;
    return checkingBlockedBy(board, { id: request.params.taskId, blockedBy, path: 'blockedBy' }, (assertHeld) =>
      changeTask(request, ctx, (current, location) => {
        assertHeld();
        assertLocation?.(current, location);
        assertMayBegin(current);
        const changed = taskChange(patch, current);
        assertKeepsReview(current, changed, request.auth);
        return changed;
      }),
    ).catch((error: unknown) => traceBlocked(traces, request.params.taskId, error));
  };
}
