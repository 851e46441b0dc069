import type { Task, TaskStatus } from '../../api/client';
import { statuses } from '../status';

export interface Filters {
  q?: string | undefined;
  agent?: string | undefined;
  project?: string | undefined;
}

/** Ranks of tasks that were never placed by hand count from here, so that halves between two of them stay exact. */
const epochMs = Date.UTC(2026, 0, 1);

/** Where a task stands in its column, smaller first: where it was placed, and before those the newest first. */
export const rank = (task: Task): number => task.position ?? -(Date.parse(task.createdAt) - epochMs) / 1_000;

const byRank = (a: Task, b: Task): number => rank(a) - rank(b) || (a.id < b.id ? 1 : -1);

export const agentOf = (task: Task): string | undefined => task.attempt?.agent ?? task.agent ?? task.assignee;

/** Whether a task has all words of a search somewhere in what names it. */
function matchesText(task: Task, words: readonly string[]): boolean {
  const text = [task.title, task.id, task.project, task.type, task.sprint, task.priority, agentOf(task)]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

export function filterTasks(tasks: readonly Task[], { q = '', agent, project }: Filters): Task[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter(
    (task) =>
      (agent === undefined || agentOf(task) === agent) &&
      (project === undefined || task.project === project) &&
      matchesText(task, words),
  );
}

export type Columns = Record<TaskStatus, Task[]>;

export function columnsOf(tasks: readonly Task[]): Columns {
  const columns = Object.fromEntries(statuses.map((status) => [status, [] as Task[]])) as Columns;
  for (const task of tasks) {
    columns[task.status].push(task);
  }
  for (const status of statuses) {
    columns[status].sort(byRank);
  }
  return columns;
}

/**
 * The position that puts a task at an index of a column.
 *
 * @param others the tasks of the column without the one that is moved
 */
export function positionAt(others: readonly Task[], index: number): number {
  const before = others[index - 1];
  const after = others[index];
  if (before && after) {
    return (rank(before) + rank(after)) / 2;
  }
  if (before) {
    return rank(before) + 1;
  }
  return after ? rank(after) - 1 : 0;
}
