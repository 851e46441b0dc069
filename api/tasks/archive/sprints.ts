import type { ArchiveSuggestion } from '../../../contracts/tasks/archive';
import type { Task } from '../../../contracts/tasks/task';
import { conflict, validationError } from '../../../platform/errors/app-error';
import type { Board } from '../../../stores/board-files/types';
import { applyToMany, type BulkResult } from '../tasks/apply-to-many';
import { archiving, type Move, moveTask } from '../tasks/moves';

/** Tasks that one suggestion shows. */
const shownTasks = 100;
/** Tasks of a sprint that one request archives; the same request again takes the next ones. */
const maxAtOnce = 1000;

/** The sprints whose tasks are all done, in the order of their names. */
export function finishedSprints(active: readonly Task[]): ArchiveSuggestion[] {
  const bySprint = new Map<string, Task[]>();
  for (const task of active) {
    if (!task.sprint) {
      continue;
    }
    const tasks = bySprint.get(task.sprint) ?? [];
    tasks.push(task);
    bySprint.set(task.sprint, tasks);
  }
  return [...bySprint]
    .filter(([, tasks]) => tasks.every(({ status }) => status === 'done'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([sprint, tasks]) => ({ sprint, taskCount: tasks.length, tasks: tasks.slice(0, shownTasks) }));
}

/** Archives a task that is still done and in the sprint when its turn comes. */
const archivingOf = (sprint: string): Move => ({
  ...archiving,
  change: (current) => {
    if (current.status !== 'done' || current.sprint !== sprint) {
      throw conflict(`Task ${current.id} is no longer a done task of the sprint.`, {
        resourceType: 'task',
        resourceId: current.id,
        status: current.status,
      });
    }
    return archiving.change(current);
  },
});

/**
 * Archives the done tasks of a sprint and leaves the others on the board.
 *
 * @throws AppError 400 when the sprint has no done task on the board
 */
export async function archiveSprint(
  board: Pick<Board, 'list' | 'move'>,
  sprint: string,
  actor: string,
): Promise<BulkResult> {
  const { tasks } = board.list({ sprint, status: ['done'], limit: maxAtOnce });
  if (tasks.length === 0) {
    throw validationError([{ path: 'sprint', message: 'has no done tasks on the board', code: 'custom' }]);
  }
  const move = archivingOf(sprint);
  return applyToMany(
    tasks.map(({ id }) => id),
    (id) => moveTask(board, id, { move, writer: { actor } }),
  );
}
