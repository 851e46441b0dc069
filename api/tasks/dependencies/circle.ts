import { validationError } from '../../../platform/errors/app-error';
import type { Board } from '../../../stores/board-files/types';
import { awaitedBy, type TaskGraph } from './graph';
import { createGraphReader } from './read-graph';

/** One task waits for another. */
export interface Dependency {
  waiting: string;
  awaited: string;
}

export type DependencyBoard = Pick<Board, 'exclusive' | 'get' | 'list' | 'version'>;

/** The name of the lock under which dependencies are added, one at a time on the whole board. */
export const lockName = 'dependencies';

/** A dependency that a request would add, and the field that names it. */
export interface AddedDependency extends Dependency {
  field: string;
}

/**
 * Runs under the lock of dependencies.
 *
 * @throws AppError 400 when an awaited task waits for the other one already, or is the same
 */
export async function assertNoCircle(
  board: Omit<DependencyBoard, 'exclusive'>,
  added: readonly AddedDependency[],
): Promise<void> {
  const graph = createGraphReader(board)();
  for (const { field, ...dependency } of added) {
    const circle = await circleOf(board, graph, dependency);
    if (circle) {
      throw wouldCreateCycle(field, circle);
    }
  }
}

/**
 * The way from the awaited task back to the one that is to wait for it, when there is one. Every step reads the task's
 * file, since another process may just have added a dependency; `blocks`, which only a hand writes, is taken from memory.
 */
async function circleOf(
  board: Pick<DependencyBoard, 'get'>,
  graph: TaskGraph,
  { waiting, awaited }: Dependency,
): Promise<string[] | undefined> {
  /** From where each task was reached first. */
  const reachedFrom = new Map<string, string | undefined>([[awaited, undefined]]);
  // A map that grows while it is walked is walked to its new end.
  for (const id of reachedFrom.keys()) {
    if (id === waiting) {
      return wayTo(id, reachedFrom);
    }
    const read = (await board.get(id))?.task;
    for (const next of [...(read ? awaitedBy(read) : []), ...graph.upstream(id)]) {
      if (!reachedFrom.has(next)) {
        reachedFrom.set(next, id);
      }
    }
  }
  return undefined;
}

function wayTo(end: string, reachedFrom: ReadonlyMap<string, string | undefined>): string[] {
  const way: string[] = [];
  for (let id: string | undefined = end; id !== undefined; id = reachedFrom.get(id)) {
    way.unshift(id);
  }
  return way;
}

/** Tasks of a circle that a refusal names. */
const shownTasks = 10;

const wouldCreateCycle = (field: string, circle: string[]) =>
  validationError(
    [{ path: field, message: `waits for the task: ${circle.slice(-shownTasks).join(' → ')}`, code: 'custom' }],
    'Adding this dependency would create a cycle',
  );
