import type { TaskContext } from '../../../contracts/tasks/context';
import type { Task } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import type { Board } from '../../../stores/board-files/types';
import { awaitedBy, type TaskGraph } from '../dependencies/graph';

type Neighbour = TaskContext['dependencies']['blocks'][number];

/** More neighbours than this are not looked up. */
const maxNeighbours = 200;

/** The tasks that a task waits for and those that wait for it; tasks that are gone or cannot be read are left out. */
export async function dependencyContext(
  board: Pick<Board, 'get'>,
  graph: TaskGraph,
  task: Task,
): Promise<TaskContext['dependencies']> {
  // The graph is the board's memory, which a file that was just written by hand may be ahead of.
  const [depends_on, blocks] = await Promise.all([
    neighbours(board, [...awaitedBy(task), ...graph.upstream(task.id)]),
    neighbours(board, [...(task.dependencies?.blocks ?? []), ...graph.downstream(task.id)]),
  ]);
  return { depends_on, blocks };
}

async function neighbours(board: Pick<Board, 'get'>, ids: string[]): Promise<Neighbour[]> {
  const distinct = [...new Set(ids)].slice(0, maxNeighbours);
  const tasks = await Promise.all(distinct.map((id) => readable(board, id)));
  return tasks.flatMap((task) => (task ? [{ id: task.id, title: task.title, status: task.status }] : []));
}

/** A file that cannot be read is a problem of that task (409), which lists of tasks report; not of its neighbour. */
async function readable(board: Pick<Board, 'get'>, id: string): Promise<Task | undefined> {
  try {
    return (await board.get(id))?.task;
  } catch (error) {
    if (error instanceof AppError && error.status === 409) {
      return undefined;
    }
    throw error;
  }
}
