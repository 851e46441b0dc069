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

/** When a task was first in progress and when it became done, after a change of its status at this time. */
export function statusTimes(
  before: Pick<Task, 'status' | 'startedAt' | 'completedAt'> | undefined,
  status: TaskStatus,
  now: string,
): Pick<Task, 'startedAt' | 'completedAt'> {
  if (status === before?.status) {
    return { startedAt: before.startedAt, completedAt: before.completedAt };
  }
  return {
    startedAt: before?.startedAt ?? (status === 'in-progress' ? now : undefined),
    completedAt: status === 'done' ? now : undefined,
  };
}
