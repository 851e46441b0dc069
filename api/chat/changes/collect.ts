import { type ChangeKind, type Changes, type ChangesQuery, taskSummary } from '../../../contracts/chat/change';
import type { Task } from '../../../contracts/tasks/task';
import type { Page, PagedBody } from '../../../platform/lists/page';
import { slicePage } from '../../../platform/lists/slice';
import type { ApiContext } from '../../context';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { type ChangePosition, changePositionOf, cursorOfKind, positionAt } from './cursor';

/** A clock may be ahead of another, and a file is noticed by other replicas a moment after it was written. */
const overlapMs = 5_000;

type Sources = Pick<ApiContext, 'board' | 'activity' | 'broadcasts'>;
type Lists = Changes['changes'];

/** One change in the order of time; `id` distinguishes it from the others of its kind. */
type Change = { at: string; id: string } & (
  | { kind: 'tasks'; task: Task }
  | { kind: 'comments'; comment: Lists['comments'][number] }
  | { kind: 'activity'; activity: Lists['activity'][number] }
  | { kind: 'broadcasts'; broadcast: Lists['broadcasts'][number] }
);

/**
 * One page of the changes after a time, the oldest first, whatever their kind. `until` is a little before the time of the first
 * page's request, and before what later pages have: later changes are repeated by the next request, so that none is missed that
 * becomes visible late, or that was cut off.
 *
 * @throws AppError 400 when the cursor is none of this list
 */
export async function collectChanges(
  sources: Sources,
  query: ChangesQuery,
  now: Date,
): Promise<PagedBody<Omit<Changes, 'nextCursor'>>> {
  const { since, full, limit } = query;
  const start = query.cursor && changePositionOf(query.cursor);
  const askedAt = Math.min(now.getTime(), start?.askedAt ?? Infinity);
  const allChanges = await changesAfter(sources, query, start);
  const page = slicePage(allChanges, { limit, cursor: start?.position }, { positionOf });
  const changes = listsOf(page, since, full);
  const safe = Math.min(askedAt - overlapMs, page.next ? Number(page.next.key) - 1 : Infinity);
  const { tasks, comments, activity, broadcasts } = changes;
  const body = {
    since,
    until: new Date(Math.max(Date.parse(since), safe)).toISOString(),
    changes,
    summary: {
      totalChanges: page.items.length,
      breakdown: {
        tasksCreated: tasks.created.length,
        tasksUpdated: tasks.updated.length,
        comments: comments.length,
        activity: activity.length,
        broadcasts: broadcasts.length,
      },
      truncated: page.next !== undefined,
    },
  };
  return positionAt(page, askedAt).answer(body);
}

const positionOf = ({ at, kind, id }: Change) => ({ key: Date.parse(at), id: `${kind}:${id}` });

/** At least the first `limit + 1` changes after the position. */
async function changesAfter(
  { board, activity, broadcasts }: Sources,
  { since, types, limit }: ChangesQuery,
  start: ChangePosition | undefined,
): Promise<Change[]> {
  const wants = new Set(types);
  const partOf = (kind: ChangeKind) => ({ limit: limit + 1, cursor: start && cursorOfKind(kind, start.position) });
  const [acts, words] = await Promise.all([
    wants.has('activity') ? activity.since(since, partOf('activity')) : [],
    wants.has('broadcasts') ? broadcasts.since(since, partOf('broadcasts')) : [],
  ]);
  const tasks = wants.has('tasks') || wants.has('comments') ? changedTasks(board, since) : [];
  return [
    ...(wants.has('tasks')
      ? tasks.map((task) => ({ kind: 'tasks' as const, at: task.updatedAt, id: task.id, task }))
      : []),
    ...(wants.has('comments') ? commentsOf(tasks, since) : []),
    ...acts.map((act) => ({ kind: 'activity' as const, at: act.timestamp, id: act.id, activity: act })),
    ...words.map((word) => ({ kind: 'broadcasts' as const, at: word.createdAt, id: word.id, broadcast: word })),
  ];
}

/** The changes of a page by their kinds: activity and broadcasts the newest first, as their own lists have them. */
function listsOf({ items }: Page<Change>, since: string, full: boolean): Lists {
  const lists: Lists = { tasks: { created: [], updated: [] }, comments: [], activity: [], broadcasts: [] };
  for (const change of items) {
    if (change.kind === 'comments') {
      lists.comments.push(change.comment);
    } else if (change.kind === 'activity') {
      lists.activity.unshift(change.activity);
    } else if (change.kind === 'broadcasts') {
      lists.broadcasts.unshift(change.broadcast);
    } else {
      const list = isAfter(change.task.createdAt, since) ? lists.tasks.created : lists.tasks.updated;
      list.push(full ? change.task : taskSummary.parse(change.task));
    }
  }
  return lists;
}

/** Of instants: times in task files may be written by people, with any precision. */
const isAfter = (time: string, since: string): boolean => Date.parse(time) > Date.parse(since);

const changedTasks = (board: Sources['board'], since: string): Task[] =>
  listAllTasks(board)
    .map(({ task }) => task)
    .filter(({ updatedAt }) => isAfter(updatedAt, since));

const commentsOf = (tasks: readonly Task[], since: string): Change[] =>
  tasks.flatMap(({ id: taskId, comments = [] }) =>
    comments.flatMap((comment) => {
      const at = comment.updated ?? comment.timestamp;
      if (!isAfter(at, since)) {
        return [];
      }
      return { kind: 'comments' as const, at, id: `${taskId}:${comment.id}`, comment: { taskId, comment } };
    }),
  );
