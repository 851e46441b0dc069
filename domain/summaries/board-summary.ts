import {
  type BoardSummary,
  maxSummarized,
  type RecentSummary,
  type SummarizedTask,
} from '../../contracts/system/summary';
import type { Task, TaskStatus } from '../../contracts/tasks/task';
import { compact } from '../../platform/json/compact';
import { completionOf, countTasks, type LocatedTask } from '../metrics/task-counts';

const noProject = '(No Project)';
const ranks = { critical: 0, high: 1, medium: 2, low: 3 };

export const shownTask = (task: Task): SummarizedTask => {
  const { id, title, status, priority, project } = task;
  return { id, title, status, priority, ...compact({ project, completedAt: completionOf(task) }) };
};

/** The most important first, then what was changed last. */
const byImportance = (a: Task, b: Task): number =>
  ranks[a.priority] - ranks[b.priority] || (a.updatedAt > b.updatedAt ? -1 : Number(a.updatedAt < b.updatedAt));

const activeOf = (tasks: readonly LocatedTask[]): Task[] =>
  tasks.flatMap(({ task, location }) => (location === 'active' ? [task] : []));

const listed = (tasks: Task[]): SummarizedTask[] => tasks.slice(0, maxSummarized).map(shownTask);

/** Active tasks of a status, the most important first. */
export const withStatus = (tasks: readonly LocatedTask[], status: TaskStatus): SummarizedTask[] =>
  listed(
    activeOf(tasks)
      .filter((task) => task.status === status)
      .sort(byImportance),
  );

/** Unfinished tasks of a priority above the usual one. */
export const highPriority = (tasks: readonly LocatedTask[]): SummarizedTask[] =>
  listed(
    activeOf(tasks)
      .filter(({ status, priority }) => status !== 'done' && ranks[priority] < ranks.medium)
      .sort(byImportance),
  );

/** Tasks that became done from a time on and before another, the latest first, wherever they are now. */
export const completedBetween = (tasks: readonly LocatedTask[], from: string, to: string): Task[] =>
  tasks
    .map(({ task }) => ({ task, at: completionOf(task) ?? '' }))
    .filter(({ at }) => at !== '' && at >= from && at < to)
    .sort((a, b) => (a.at > b.at ? -1 : Number(a.at < b.at)))
    .map(({ task }) => task);

/** What there is on the board. */
export function summarizeBoard(tasks: readonly LocatedTask[]): BoardSummary {
  const period = { name: 'all', from: null, to: '', timeZone: 'UTC' } as const;
  const { total, byStatus } = countTasks(tasks, period);
  const projects = new Map<string, { total: number; done: number; inProgress: number }>();
  for (const { project = noProject, status } of activeOf(tasks)) {
    const counts = projects.get(project) ?? { total: 0, done: 0, inProgress: 0 };
    projects.set(project, {
      total: counts.total + 1,
      done: counts.done + Number(status === 'done'),
      inProgress: counts.inProgress + Number(status === 'in-progress'),
    });
  }
  const sorted = [...projects].sort(([a, one], [b, other]) => other.total - one.total || (a < b ? -1 : 1));
  return {
    total,
    byStatus,
    byProject: Object.fromEntries(sorted.slice(0, maxSummarized)),
    otherProjects: Math.max(0, sorted.length - maxSummarized),
    highPriority: highPriority(tasks),
  };
}

/** What was completed in the last hours, and what is important now. */
export function summarizeRecent(tasks: readonly LocatedTask[], hours: number, now: Date): RecentSummary {
  const since = new Date(now.getTime() - hours * 3_600_000).toISOString();
  const until = new Date(now.getTime() + 1).toISOString();
  return {
    completed: listed(completedBetween(tasks, since, until)),
    highPriorityActive: highPriority(tasks),
    period: { hours, since },
  };
}
