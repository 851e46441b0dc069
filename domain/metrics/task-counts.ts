import type { Period } from '../../contracts/period';
import type { TaskMetrics } from '../../contracts/system/metrics';
import type { Task, TaskLocation } from '../../contracts/tasks/task';

/** A task and the folder it is in. */
export interface LocatedTask {
  task: Task;
  location: TaskLocation;
}

/** When a task became done, where it is; that of a file edited by hand is its last change. */
export const completionOf = ({ status, completedAt, updatedAt }: Task): string | undefined =>
  status === 'done' ? (completedAt ?? updatedAt) : undefined;

/** Whether a time is in a period. */
export const isWithin = ({ from, to }: Pick<Period, 'from' | 'to'>, time: string | undefined): boolean =>
  time !== undefined && (from === null || time >= from) && time < to;

const increase = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

const statuses = ['todo', 'in-progress', 'blocked', 'done'];

/** Counts tasks as they are now, and those that were created or became done in a period. */
export function countTasks(tasks: Iterable<LocatedTask>, period: Period): TaskMetrics {
  const byStatus = new Map(statuses.map((status) => [status, 0]));
  const byBlockedReason = new Map<string, number>();
  const counts = { total: 0, backlog: 0, archived: 0, created: 0, completed: 0 };
  for (const { task, location } of tasks) {
    counts.created += Number(isWithin(period, task.createdAt));
    counts.completed += Number(isWithin(period, completionOf(task)));
    if (location !== 'active') {
      counts[location === 'archive' ? 'archived' : 'backlog'] += 1;
      continue;
    }
    counts.total += 1;
    increase(byStatus, task.status);
    if (task.status === 'blocked') {
      increase(byBlockedReason, task.blockedReason?.category ?? 'unstated');
    }
  }
  return {
    period,
    ...counts,
    byStatus: Object.fromEntries(byStatus),
    byBlockedReason: Object.fromEntries(byBlockedReason),
  };
}
