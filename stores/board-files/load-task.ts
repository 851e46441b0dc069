import { notFound } from '../../platform/errors/app-error';
import { brokenFileError } from './board-file';
import type { Follower, FollowerDeps, LoadedTask } from './follower';
import { assertUniqueIdentity } from './identity';
import type { HeldLock } from './task-locks';

/**
 * Reads a task under its lock.
 *
 * @param operation what it is read for, for the person who is told that two files claim the task
 * @throws AppError 404 for an unknown or deleted task, 409 for a file that cannot be read or a duplicate identity
 */
export async function loadTask(
  { follower, index }: Pick<FollowerDeps, 'index'> & { follower: Pick<Follower, 'reread'> },
  id: string,
  operation: string,
  held: HeldLock,
): Promise<LoadedTask> {
  const loaded = await follower.reread(id, held);
  const found = index.find(id);
  if (found && !loaded) assertUniqueIdentity(index, operation, found.task, found.path);
  const broken = found ? undefined : index.brokenFileOf(id);
  if (broken) throw brokenFileError(id, broken);
  if (!loaded || loaded.file.task.deletedAt !== undefined) throw notFound('task', id);
  return loaded;
}
