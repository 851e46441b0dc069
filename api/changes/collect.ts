import { taskSummary, type Changes, type ChangesQuery } from '../../contracts/change-feed';
import type { Task } from '../../contracts/task';
import type { ApiContext } from '../context';
import { everyTask } from '../tasks/every-task';

/** Most changes of each kind that are told at once. */
const maxOfAKind = 500;

/** A clock may be ahead of another, and a file is noticed by other replicas a moment after it was written. */
const overlapMs = 5_000;

type Sources = Pick<ApiContext, 'board' | 'activity' | 'broadcasts'>;

/**
 * What has changed after a time, the oldest first among tasks and comments. `until` lies a little in the past: what
 * happened in the last seconds is told again by the next question, so that nothing is missed that becomes visible late.
 */
export async function collectChanges(
  { board, activity, broadcasts }: Sources,
  { since, full, types }: ChangesQuery,
  now: Date,
): Promise<Changes> {
  const wants = new Set(types);
  const tasks = wants.has('tasks') || wants.has('comments') ? changedTasks(board, since) : [];
  const told = wants.has('tasks') ? tasks : [];
  const isNew = ({ createdAt }: Task): boolean => isAfter(createdAt, since);
  const show = (task: Task) => (full ? task : taskSummary.parse(task));
  const created = told.filter(isNew);
  const updated = told.filter((task) => !isNew(task));
  const comments = wants.has('comments') ? commentsOf(tasks, since) : [];
  const limit = maxOfAKind + 1;
  const [acts, words] = await Promise.all([
    wants.has('activity') ? activity.list({ since, limit, page: 0 }).then(({ items }) => items) : [],
    wants.has('broadcasts') ? broadcasts.list({ since, limit, unread: false }).then(({ items }) => items) : [],
  ]);
  const lists = [created, updated, comments, acts, words];
  const cut = <T>(list: T[]): T[] => list.slice(0, maxOfAKind);
  const count = (list: unknown[]): number => Math.min(list.length, maxOfAKind);
  return {
    since,
    until: new Date(Math.max(Date.parse(since), now.getTime() - overlapMs)).toISOString(),
    changes: {
      tasks: { created: cut(created).map(show), updated: cut(updated).map(show) },
      comments: cut(comments),
      activity: cut(acts),
      broadcasts: cut(words),
    },
    summary: {
      totalChanges: lists.reduce((total, list) => total + count(list), 0),
      breakdown: {
        tasksCreated: count(created),
        tasksUpdated: count(updated),
        comments: count(comments),
        activity: count(acts),
        broadcasts: count(words),
      },
      truncated: lists.some((list) => list.length > maxOfAKind),
    },
  };
}

/** Of instants: times in task files may be written by people, with any precision. */
const isAfter = (time: string, since: string): boolean => Date.parse(time) > Date.parse(since);

const changedTasks = (board: Sources['board'], since: string): Task[] =>
  everyTask(board)
    .map(({ task }) => task)
    .filter(({ updatedAt }) => isAfter(updatedAt, since))
    .sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1));

const commentsOf = (tasks: readonly Task[], since: string): Changes['changes']['comments'] =>
  tasks.flatMap(({ id, comments = [] }) =>
    comments
      .filter(({ timestamp, updated }) => isAfter(updated ?? timestamp, since))
      .map((comment) => ({ taskId: id, comment })),
  );
