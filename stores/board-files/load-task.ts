import { notFound } from '../../platform/errors/app-error';
import { brokenFileError, type TaskFile } from './board-file';
import type { Follower, FollowerDeps, LoadedTask } from './following/follower';
import { assertUniqueIdentity } from './format/identity';
import type { TaskPath } from './format/layout';
import type { HeldLock } from './task-locks';

export interface Loading {
  /** Why it is read, for the error that reports two files claiming the task. */
  operation: string;
  /** Where the operation would move it, for the same error; its current path when absent. */
  destination?: (file: TaskFile) => TaskPath;
  /** Whether a deleted task is read as well; otherwise there is none. */
  evenDeleted?: boolean | undefined;
  held: HeldLock;
}

/**
 * Reads a task under its lock.
 *
 * @throws AppError 404 for an unknown task, 409 for a file that cannot be read or a duplicate identity
 */
export async function loadTask(
  { follower, index }: Pick<FollowerDeps, 'index'> & { follower: Pick<Follower, 'reread'> },
  id: string,
  { operation, destination = ({ path }) => path, evenDeleted = false, held }: Loading,
): Promise<LoadedTask> {
  const loaded = await follower.reread(id, held);
  const file = index.find(id);
  if (file && !loaded) {
    assertUniqueIdentity(index, file.task, { operation, destinationPath: destination(file) });
  }
  const broken = file ? undefined : index.brokenFileOf(id);
  if (broken) {
    throw brokenFileError(id, broken);
  }
  if (!loaded || (loaded.file.task.deletedAt !== undefined && !evenDeleted)) {
    throw notFound('task', id);
  }
  return loaded;
}
