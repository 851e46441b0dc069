import type { Task, TaskPatch } from '../../../contracts/tasks/task';
import { statusEffects } from '../../../domain/status-effects';

/**
 * What a patch changes in a task: its own fields, `done` when it completes the last open subtask of a task with
 * `autoCompleteOnSubtasks`, and what follows from a new status.
 */
export function taskChange({ expectedRevision: _expected, ...patch }: TaskPatch, current: Task): Partial<Task> {
  const status = patch.status ?? (completesSubtasks(patch, current) ? 'done' : undefined);
  return status === undefined ? patch : { ...patch, status, ...statusEffects(status, current) };
}

/** Whether all subtasks are completed now and one of them was open before; taking the last open one away is not that. */
function completesSubtasks({ subtasks = [], ...patch }: TaskPatch, current: Task): boolean {
  if (!{ ...current, ...patch }.autoCompleteOnSubtasks || !subtasks.every(({ completed }) => completed)) {
    return false;
  }
  const open = new Set(current.subtasks.filter(({ completed }) => !completed).map(({ id }) => id));
  return subtasks.some(({ id }) => open.has(id));
}
