import { z } from 'zod';
import type { Task } from '../../contracts/task';
import type { TaskContext } from '../../contracts/task-context';
import { AppError } from '../../platform/errors/app-error';
import type { Board } from '../../stores/board-files/types';

/** More neighbours than this are not looked up. */
const maxNeighbours = 200;

const ids = z.array(z.string()).catch([]);
const lists = z.object({ depends_on: ids, blocks: ids }).catch({ depends_on: [], blocks: [] });

/** The tasks that a task waits for and those that wait for it; tasks that are gone or cannot be read are left out. */
export async function dependencyContext(board: Pick<Board, 'get'>, task: Task): Promise<TaskContext['dependencies']> {
  const { depends_on, blocks } = lists.parse(task.dependencies);
  const [waitsFor, waiting] = await Promise.all([neighbours(board, depends_on), neighbours(board, blocks)]);
  return { depends_on: waitsFor, blocks: waiting };
}

async function neighbours(board: Pick<Board, 'get'>, of: string[]): Promise<TaskContext['dependencies']['blocks']> {
  const found = await Promise.all(of.slice(0, maxNeighbours).map((id) => readable(board, id)));
  return found.flatMap((task) => (task ? [{ id: task.id, title: task.title, status: task.status }] : []));
}

/** A file that cannot be read is a problem of that task (409), which lists of tasks report; not of its neighbour. */
async function readable(board: Pick<Board, 'get'>, id: string): Promise<Task | undefined> {
  try {
    return (await board.get(id))?.task;
  } catch (error) {
    if (error instanceof AppError && error.status === 409) return undefined;
    throw error;
  }
}
