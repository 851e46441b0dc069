import { join } from 'node:path';
import type { Task, TaskLocation } from '../../contracts/task';
import { conflict, errorMessage, type AppError } from '../../platform/errors/app-error';
import type { TaskFile } from './board-file';
import { FileChangedError, moveFile } from './durable-file';
import type { FollowerDeps } from './follower';
import { fileNameOf, partsOf, taskPath, type TaskPath } from './layout';
import { removeProgress } from './progress-files';
import { fingerprintOf, isMissing, statOf } from './read-task-file';
import type { HeldLock } from './task-locks';

/** A changed title renames the file; otherwise it keeps its name, whatever that is. */
export function destination(before: TaskFile, task: Task, to?: TaskLocation): TaskPath {
  const { location, name } = partsOf(before.path);
  const renamed = task.title === before.task.title ? name : fileNameOf(task);
  return taskPath(to ?? location, renamed);
}

/** Gives files whose content is written already the name and folder they should have. */
export interface Placing {
  /** The content is what counts, so a name that is taken is left for the next time. */
  place(written: TaskFile, path: TaskPath): Promise<TaskFile>;
  /** @throws AppError 409 when there is a file at `path`; nothing is changed then */
  assertFree(before: TaskFile, path: TaskPath): Promise<void>;
  /**
   * The folder is what counts. Listeners hear of content and folder as one change.
   *
   * @throws AppError 409 when the name was taken, or the file taken away, since {@link assertFree}
   */
  relocate(written: TaskFile, path: TaskPath, held: HeldLock): Promise<TaskFile>;
}

export function createPlacing({ dir, index, log }: Pick<FollowerDeps, 'dir' | 'index' | 'log'>): Placing {
  async function move(written: TaskFile, path: TaskPath): Promise<TaskFile> {
    await moveFile(join(dir, written.path), join(dir, path));
    if (partsOf(path).location === 'archive') await removeProgress(dir, written.task.id);
    const stats = await statOf(join(dir, path));
    return { ...written, path, signature: stats ? fingerprintOf(stats).signature : '', fresh: true };
  }

  return {
    place: async (written, path) => {
      index.put(written);
      if (path === written.path) return written;
      try {
        const moved = await move(written, path);
        index.put(moved, written.path);
        return moved;
      } catch (error) {
        log.warn({ taskId: written.task.id, path, error: errorMessage(error) }, 'a task file could not be renamed');
        return written;
      }
    },
    assertFree: async ({ task, path: from }, path) => {
      if (path !== from && (await statOf(join(dir, path)))) throw taken(task, path);
    },
    relocate: async (written, path, held) => {
      try {
        held.assertHeld();
        const moved = path === written.path ? written : await move(written, path);
        index.put(moved, written.path);
        return moved;
      } catch (error) {
        index.put(written);
        if (error instanceof FileChangedError || isMissing(error)) throw taken(written.task, path);
        throw error;
      }
    },
  };
}

const taken = ({ id }: Task, path: TaskPath): AppError =>
  conflict(`Task ${id} cannot be moved to ${path}: a file was put there or taken away by hand. Look, and try again.`, {
    resourceType: 'task',
    resourceId: id,
    destinationPath: path,
  });
