import type { Task, TaskStatus } from '../contracts/task';

/**
 * What else changes in a task with its status, whoever changes it: a person, a list of tasks at once, a run.
 *
 * - Leaving `blocked` takes the reason away.
 */
export function statusEffects(status: TaskStatus, current: Pick<Task, 'status'>): Partial<Task> {
  if (status === current.status) return {};
  return current.status === 'blocked' ? { blockedReason: undefined } : {};
}
