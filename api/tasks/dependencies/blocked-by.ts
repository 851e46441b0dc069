import type { Task } from '../../../contracts/tasks/task';
import { validationError } from '../../../platform/errors/app-error';
import { assertNoCircle, type DependencyBoard, lockName } from './circle';

type BlockedBy = Task['blockedBy'] | null;

/** What a change does right before it writes: throws once the lock of dependencies was lost. */
export type AssertHeld = () => void;

/**
 * Changes a task to which `blockedBy` may be new. What that adds is checked as added dependencies are, under the same lock;
 * what the task names already is left as it is, since a hand may have written it.
 *
 * @param path where in the body of the request `blockedBy` is
 * @throws AppError 400 with the path for a task that is not on the board and when there would be a circle
 */
export async function checkingBlockedBy<T>(
  board: DependencyBoard,
  { id, blockedBy, path }: { id: string; blockedBy: BlockedBy | undefined; path: string },
  change: (assertHeld: AssertHeld) => Promise<T>,
): Promise<T> {
  if (!blockedBy?.length) {
    return change(() => undefined);
  }
  return board.exclusive(lockName, async (held) => {
    const current = (await board.get(id))?.task;
    // A task that is not there is refused by the change.
    if (current) {
      const before = current.blockedBy ?? [];
      const isNew = (awaited: string) => !before.includes(awaited);
      await assertOnBoard(board, { blockedBy, path, isNew });
      const added = blockedBy.map((awaited, index) => ({ waiting: id, awaited, field: `${path}.${index}` }));
      await assertNoCircle(
        board,
        added.filter(({ awaited }) => isNew(awaited)),
      );
    }
    return change(() => held.assertHeld());
  });
}

/** @throws AppError 400 with the paths of the tasks that are not on the board, in no folder of it */
export async function assertOnBoard(
  board: Pick<DependencyBoard, 'get'>,
  {
    blockedBy,
    path,
    isNew = () => true,
  }: { blockedBy: BlockedBy | undefined; path: string; isNew?: (id: string) => boolean },
): Promise<void> {
  const unknown: { index: number; id: string }[] = [];
  for (const [index, id] of (blockedBy ?? []).entries()) {
    if (isNew(id) && !(await board.get(id))) {
      unknown.push({ index, id });
    }
  }
  if (unknown.length === 0) {
    return;
  }
  throw validationError(
    unknown.map(({ index, id }) => ({
      path: `${path}.${index}`,
      message: `No task has the id ${id}.`,
      code: 'custom',
    })),
    `No task of the board has the id ${unknown.map(({ id }) => id).join(', ')}`,
  );
}
