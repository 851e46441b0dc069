import type { Task, TaskDependencies } from '../../../contracts/tasks/task';
import { assertFound, notFound, validationError } from '../../../platform/errors/app-error';
import { assertRevision } from '../../../stores/board-files/next-version';
import type { Board, Writer } from '../../../stores/board-files/types';
import { assertNotArchived } from '../tasks/locations';
import { createGraphReader } from './read-graph';

/** One task waits for another. */
export interface Dependency {
  waiting: string;
  awaited: string;
}

export type DependencyBoard = Pick<Board, 'exclusive' | 'get' | 'list' | 'update' | 'version'>;

/** The name of the lock under which dependencies are added, one at a time on the whole board. */
const lockName = 'dependencies';

/**
 * Makes a task wait for another. It is written in the file of the task that waits and nowhere else, so nothing is ever half
 * done. Requests that would close a circle only together are serialized by a lock of the whole board, under which the files
 * that matter are read again.
 *
 * @param task the task the caller names and whose revision `writer` states: one of the two
 * @returns that task afterwards
 * @throws AppError 404, 409 for a stale revision or an archived task, 400 when there would be a circle
 */
export async function addDependency(
  board: DependencyBoard,
  task: string,
  { dependency, field, writer }: { dependency: Dependency; field: string; writer: Writer },
): Promise<Task> {
  const { waiting, awaited } = dependency;
  return board.exclusive(lockName, async (held) => {
    for (const id of [waiting, awaited]) {
      assertFound(await board.get(id), 'task', id);
    }
    const before = await currentTask(board, task);
    const circle = await circleOf(board, dependency);
    if (circle) {
      throw wouldCreateCycle(field, circle);
    }
    const { dependencies } = await currentTask(board, waiting);
    if (dependencies?.depends_on?.includes(awaited)) {
      return before;
    }
    if (task !== waiting) {
      assertRevision(before, writer.expectedRevision);
    }
    const changed = await board.update(
      waiting,
      (current, location) => {
        held.assertHeld();
        assertNotArchived(current, location);
        const dependsOn = current.dependencies?.depends_on ?? [];
        return { dependencies: { ...current.dependencies, depends_on: [...dependsOn, awaited] } };
      },
      task === waiting ? writer : { actor: writer.actor },
    );
    return task === waiting ? changed : before;
  });
}

/**
 * Removes what makes either of two tasks wait for the other, on both sides. The same request again finishes one that was
 * interrupted between the two files.
 *
 * @returns the first of them afterwards
 * @throws AppError 404 for an unknown task and when neither waits for the other, 409 for a stale revision
 */
export async function removeDependencies(
  board: DependencyBoard,
  task: string,
  { other, writer }: { other: string; writer: Writer },
): Promise<Task> {
  const boardTask = await board.get(task);
  assertFound(boardTask, 'task', task);
  assertNotArchived(boardTask.task, boardTask.location);
  const [here, there] = [names(boardTask.task, other), names((await board.get(other))?.task, task)];
  if (!here && !there) {
    throw notFound('dependency', other);
  }
  if (!here) {
    assertRevision(boardTask.task, writer.expectedRevision);
  }
  const changed = here ? await board.update(task, (current) => without(current, other), writer) : boardTask.task;
  if (there) {
    await board.update(other, (current) => without(current, task), { actor: writer.actor });
  }
  return changed;
}

async function currentTask(board: DependencyBoard, id: string): Promise<Task> {
  const boardTask = await board.get(id);
  assertFound(boardTask, 'task', id);
  return boardTask.task;
}

const names = (task: Task | undefined, other: string): boolean =>
  [task?.dependencies?.depends_on, task?.dependencies?.blocks].some((ids) => ids?.includes(other));

/** The task without `other` in its dependencies; lists that are empty then are left out. */
function without({ dependencies = {} }: Task, other: string): { dependencies: TaskDependencies | undefined } {
  const { depends_on = [], blocks = [], ...rest } = dependencies;
  const remaining = Object.entries({ depends_on, blocks })
    .map(([side, ids]) => [side, ids.filter((id) => id !== other)] as const)
    .filter(([, ids]) => ids.length > 0);
  const left: TaskDependencies = { ...rest, ...Object.fromEntries(remaining) };
  return { dependencies: Object.keys(left).length > 0 ? left : undefined };
}

/**
 * The way from the awaited task back to the one that is to wait for it, when there is one. Every step reads the task's
 * file, since another process may just have added a dependency; `blocks`, which only a hand writes, is taken from memory.
 */
async function circleOf(board: DependencyBoard, { waiting, awaited }: Dependency): Promise<string[] | undefined> {
  const graph = createGraphReader(board)();
  /** From where each task was reached first. */
  const reachedFrom = new Map<string, string | undefined>([[awaited, undefined]]);
  // A map that grows while it is walked is walked to its new end.
  for (const id of reachedFrom.keys()) {
    if (id === waiting) {
      return wayTo(id, reachedFrom);
    }
    const read = (await board.get(id))?.task;
    for (const next of [...(read?.dependencies?.depends_on ?? []), ...graph.upstream(id)]) {
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
