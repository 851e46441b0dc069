import { notFound } from '../../platform/errors/app-error';
import { brokenFileError, type TaskFile } from './board-file';
import type { Follower, FollowerDeps, LoadedTask } from './follower';
import { assertUniqueIdentity } from './identity';
import type { TaskPath } from './layout';
import type { HeldLock } from './task-locks';

export interface Loading {
  /** What it is read for, for the person who is told that two files claim the task. */
  operation: string;
  /** Where the operation would put it, for the same person; where it is, unless said otherwise. */
  destination?: (file: TaskFile) => TaskPath;
  /** Whether a deleted task is read as well; otherwise there is none. */
  evenDeleted?: boolean | undefined;
}

/**
 * Reads a task under its lock.
 *
 * @throws AppError 404 for an unknown task, 409 for a file that cannot be read or a duplicate identity
 */
export async function loadTask(
  { follower, index }: Pick<FollowerDeps, 'index'> & { follower: Pick<Follower, 'reread'> },
  id: string,
  { operation, destination = ({ path }) => path, evenDeleted = false }: Loading,
  held: HeldLock,
): Promise<LoadedTask> {
  const loaded = await follower.reread(id, held);
  const found = index.find(id);
  if (found && !loaded) assertUniqueIdentity(index, operation, found.task, destination(found));
  const broken = found ? undefined : index.brokenFileOf(id);
  if (broken) throw brokenFileError(id, broken);
  if (!loaded || (loaded.file.task.deletedAt !== undefined && !evenDeleted)) throw notFound('task', id);
  return loaded;
}
