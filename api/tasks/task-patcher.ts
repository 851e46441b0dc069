import type { Task, TaskPatchRequest } from '../../contracts/task';
import type { HttpContext } from '../../platform/http/context';
import type { TaskChange } from '../../stores/board-files/types';
import type { ApiContext } from '../context';
import { createBeginGate, traceBlocked } from '../dependencies/begin-gate';
import { taskChange } from './change';
import { withPlainTitles } from './plain-text';
import { createTaskChanger, type TaskChangeRequest } from './task-changer';

type PatchRequest = TaskChangeRequest & { body: TaskPatchRequest };

/**
 * Patches a task for a person or an agent, wherever its route is: through every gate there is.
 *
 * @param assertPlace throws to refuse a task that is not where the route looks for it; runs under the task's lock
 */
export type PatchTask = (
  request: PatchRequest,
  ctx: HttpContext,
  assertPlace?: (...of: Parameters<TaskChange>) => void,
) => Promise<Task>;

export function createTaskPatcher({ board, traces }: Pick<ApiContext, 'board' | 'traces'>): PatchTask {
  const changeTask = createTaskChanger(board);
  const beginGate = createBeginGate(board);
  return async (request, ctx, assertPlace) => {
    const patch = withPlainTitles(request.body);
    const assertMayBegin = await beginGate(request.params.taskId, patch.status);
    return changeTask(request, ctx, (current, location) => {
      assertPlace?.(current, location);
      assertMayBegin(current);
      return taskChange(patch, current);
    }).catch((error: unknown) => traceBlocked(traces, request.params.taskId, error));
  };
}
