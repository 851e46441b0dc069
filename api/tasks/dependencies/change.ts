import type { Task, TaskDependencies } from '../../../contracts/tasks/task';
import { assertFound, notFound } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { assertRevision } from '../../../stores/board-files/next-version';
import type { Board, Writer } from '../../../stores/board-files/types';
import { assertNotArchived } from '../tasks/locations';
import { assertNoCircle, type Dependency, type DependencyBoard, lockName } from './circle';
import { awaitedBy } from './graph';

export type ChangeableBoard = DependencyBoard & Pick<Board, 'update'>;

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
  board: ChangeableBoard,
  task: string,
  { dependency, field, writer }: { dependency: Dependency; field: string; writer: Writer },
): Promise<Task> {
  const { waiting, awaited } = dependency;
  return board.exclusive(lockName, async (held) => {
    for (const id of [waiting, awaited]) {
      assertFound(await board.get(id), 'task', id);
    }
    const before = await currentTask(board, task);
    await assertNoCircle(board, [{ ...dependency, field }]);
    if (awaitedBy(await currentTask(board, waiting)).includes(awaited)) {
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
  board: ChangeableBoard,
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

async function currentTask(board: ChangeableBoard, id: string): Promise<Task> {
  const boardTask = await board.get(id);
  assertFound(boardTask, 'task', id);
  return boardTask.task;
}

/** Whether a task waits for another, or has the other wait for it. */
const names = (task: Task | undefined, other: string): boolean =>
  task !== undefined && [...awaitedBy(task), ...(task.dependencies?.blocks ?? [])].includes(other);

/** The task without `other` in its dependencies; lists that are empty then are left out. */
function without({ dependencies = {}, blockedBy }: Task, other: string): Pick<Task, 'dependencies' | 'blockedBy'> {
  const { depends_on, blocks, ...rest } = dependencies;
  const remaining = (ids: readonly string[] = []): string[] | undefined => {
    const left = ids.filter((id) => id !== other);
    return left.length > 0 ? left : undefined;
  };
  const left: TaskDependencies = {
    ...rest,
    ...compact({ depends_on: remaining(depends_on), blocks: remaining(blocks) }),
  };
  return { dependencies: Object.keys(left).length > 0 ? left : undefined, blockedBy: remaining(blockedBy) };
}
