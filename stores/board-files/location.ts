import { join } from 'node:path';
import type { Task, TaskLocation } from '../../contracts/tasks/task';
import { type AppError, conflict, errorMessage } from '../../platform/errors/app-error';
import type { TaskFile } from './board-file';
import type { FollowerDeps } from './following/follower';
import { FileChangedError, moveFile } from './format/durable-file';
import { fileNameOf, partsOf, type TaskPath, taskPath } from './format/layout';
import { fingerprintOf, isMissing, statOf } from './format/read-task-file';
import { removeProgress } from './progress-files';
import type { HeldLock } from './task-locks';

/** A changed title renames the file; otherwise its name does not change. */
export function destination(before: TaskFile, task: Task, to?: TaskLocation): TaskPath {
  const { location, name } = partsOf(before.path);
  const renamed = task.title === before.task.title ? name : fileNameOf(task);
  return taskPath(to ?? location, renamed);
}

/** Gives files whose content is written already the name and folder they should have. */
export interface FileLocations {
  /** The content is what counts, so a name that is taken is retried at the next change. */
  place(written: TaskFile, path: TaskPath): Promise<TaskFile>;
  /** @throws AppError 409 when there is a file at `path`; nothing is changed then */
  assertFree(before: TaskFile, path: TaskPath): Promise<void>;
  /**
   * The folder is what counts. Listeners receive content and folder as one change.
   *
   * @throws AppError 409 when the name was taken, or the file taken away, since {@link assertFree}
   */
  relocate(written: TaskFile, path: TaskPath, held: HeldLock): Promise<TaskFile>;
}

export function createFileLocations({ dir, index, log }: Pick<FollowerDeps, 'dir' | 'index' | 'log'>): FileLocations {
  async function move(written: TaskFile, path: TaskPath): Promise<TaskFile> {
    await moveFile(join(dir, written.path), join(dir, path));
    if (partsOf(path).location === 'archive') {
      await removeProgress(dir, written.task.id);
    }
    const stats = await statOf(join(dir, path));
    return { ...written, path, signature: stats ? fingerprintOf(stats).signature : '', fresh: true };
  }

  return {
    place: async (written, path) => {
      index.put(written);
      if (path === written.path) {
        return written;
      }
      try {
        const moved = await move(written, path);
        index.put(moved, written.path);
        return moved;
      } catch (error) {
        log.warn({ taskId: written.task.id, path, error: errorMessage(error) }, 'task file rename failed');
        return written;
      }
    },
    assertFree: async ({ task, path: from }, path) => {
      if (path !== from && (await statOf(join(dir, path)))) {
        throw locationTaken(task, path);
      }
    },
    relocate: async (written, path, held) => {
      try {
        held.assertHeld();
        const moved = path === written.path ? written : await move(written, path);
        index.put(moved, written.path);
        return moved;
      } catch (error) {
        index.put(written);
        if (error instanceof FileChangedError || isMissing(error)) {
          throw locationTaken(written.task, path);
        }
        throw error;
      }
    },
  };
}

const locationTaken = ({ id }: Task, path: TaskPath): AppError =>
  conflict(
    `Task ${id} cannot be moved to ${path}: a file was added or removed there manually. Check it, and try again.`,
    {
      resourceType: 'task',
      resourceId: id,
      destinationPath: path,
    },
  );
