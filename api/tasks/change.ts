import type { Task, TaskPatch } from '../../contracts/task';

/** What a patch changes in a task. Leaving `blocked` takes the reason away. */
export function taskChange({ expectedRevision: _expected, ...patch }: TaskPatch, current: Task): Partial<Task> {
  const leavesBlocked = current.status === 'blocked' && patch.status !== undefined && patch.status !== 'blocked';
  return leavesBlocked ? { ...patch, blockedReason: undefined } : patch;
}
