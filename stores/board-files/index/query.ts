import type { Task, TaskQuery } from '../../../contracts/tasks/task';
import type { Position } from '../../../platform/lists/page';

/** Maximum tasks of one response, and the page size of a query without a limit. */
const maxListed = 10_000;
const defaultLimit = 50;

/** Part of a list of tasks. */
export interface SelectedTasks {
  tasks: Task[];
  /** How many match in all parts. */
  total: number;
  /** Where the next page begins; absent at the end. */
  next?: Position;
}

/** The sorted `tasks` that a query selects, and how many match it in all pages. */
export function selectTasks(tasks: readonly Task[], query: TaskQuery): SelectedTasks {
  const matches = matcher(query);
  const matching = matches ? tasks.filter(matches) : tasks;
  const paged = query.page !== undefined || query.limit !== undefined;
  const limit = paged ? (query.limit ?? defaultLimit) : maxListed;
  const start = query.cursor ? placeAfter(matching, query.cursor) : ((query.page ?? 1) - 1) * limit;
  const selected = matching.slice(start, start + limit);
  const last = selected.at(-1);
  const goesOn = last !== undefined && start + limit < matching.length;
  return { tasks: selected, total: matching.length, ...(goesOn && { next: { key: last.updatedAt, id: last.id } }) };
}

/** Index of the first task that comes after a position in the order of lists. */
function placeAfter(tasks: readonly Task[], { key, id }: Position): number {
  const place = tasks.findIndex((task) => task.updatedAt < String(key) || (task.updatedAt === key && task.id > id));
  return place === -1 ? tasks.length : place;
}

const listFields = ['status', 'priority', 'type'] as const;
const exactFields = ['project', 'sprint', 'assignee', 'agent'] as const;

/** One test for all filters of a query; `undefined` when it has none. */
function matcher(query: TaskQuery): ((task: Task) => boolean) | undefined {
  const tests: ((task: Task) => boolean)[] = [];
  for (const field of listFields) {
    const allowed = query[field];
    if (allowed) {
      tests.push((task) => (allowed as string[]).includes(task[field]));
    }
  }
  for (const field of exactFields) {
    const expected = query[field];
    if (expected !== undefined) {
      tests.push((task) => task[field] === expected);
    }
  }
  const { review } = query;
  if (review) {
    tests.push((task) => task.review?.state !== undefined && review.includes(task.review.state));
  }
  if (query.q) {
    const phrase = query.q.toLowerCase();
    tests.push((task) => searchText(task).includes(phrase));
  }
  return tests.length > 0 ? (task) => tests.every((test) => test(task)) : undefined;
}

/** Lower-cased once per version of a task: tasks are frozen, and a search reads thousands. */
const searchTexts = new WeakMap<Task, string>();

function searchText(task: Task): string {
  const cached = searchTexts.get(task);
  if (cached !== undefined) {
    return cached;
  }
  // A line end cannot be typed into a search box by accident: matches do not reach across the parts.
  const text = `${task.id}\n${task.title}\n${task.description}`.toLowerCase();
  searchTexts.set(task, text);
  return text;
}
