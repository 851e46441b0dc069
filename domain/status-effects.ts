import type { Task, TaskStatus } from '../contracts/tasks/task';

/**
 * What else changes in a task with its status, whether by a person, a bulk change or a run.
 *
 * - Leaving `blocked` removes the reason.
 * - Going to `in-progress` resumes from the task's checkpoint, if it has one; `done` clears it.
 */
export function statusEffects(status: TaskStatus, current: Pick<Task, 'status' | 'checkpoint'>): Partial<Task> {
  if (status === current.status) {
    return {};
  }
  const { checkpoint } = current;
  return {
    ...(current.status === 'blocked' ? { blockedReason: undefined } : {}),
    ...(status === 'in-progress' && checkpoint
      ? { checkpoint: { ...checkpoint, resumeCount: checkpoint.resumeCount + 1 } }
      : {}),
    ...(status === 'done' ? { checkpoint: undefined } : {}),
  };
}
