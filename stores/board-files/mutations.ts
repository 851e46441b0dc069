import { join } from 'node:path';
import type { Task, TaskCreate, TaskLocation } from '../../contracts/task';
import { AppError, conflict, errorMessage, notFound, validationError } from '../../platform/errors/app-error';
import { brokenFileError, type TaskFile } from './board-file';
import { FileChangedError, moveFile } from './durable-file';
import type { Follower, FollowerDeps } from './follower';
import { assertUniqueIdentity } from './identity';
import { fileNameOf, partsOf, taskPath, type TaskPath } from './layout';
import { loadTask } from './load-task';
import { plain } from './plain';
import { removeProgress } from './progress-files';
import { fingerprintOf, statOf } from './read-task-file';
import { TaskDocumentError, validTask } from './task-document';
import { isTaskId, newTaskId } from './task-id';
import type { Board, Writer } from './types';
import { writeTask } from './write-task';

export type MutationDeps = FollowerDeps & { follower: Follower };

/** How often a file that changes under a write is read again before the writer is told. */
const maxAttempts = 10;
const purgeAfterMs = 30 * 24 * 3_600_000;

/** The three ways a board is written to; all of them under the lock of the task. */
export function createMutations(deps: MutationDeps): Pick<Board, 'create' | 'update' | 'remove'> {
  const { dir, index, locks, follower, clock } = deps;

  async function create(
    input: TaskCreate,
    { actor, location = 'active', id: givenId }: { actor: string; location?: TaskLocation; id?: string },
  ): Promise<Task> {
    const id = givenId ?? newTaskId(clock());
    const now = clock().toISOString();
    const stamps = { createdAt: now, updatedAt: now, revision: 1, createdBy: actor, updatedBy: actor };
    const task = valid({ ...input, id, ...stamps });
    const path = taskPath(location, fileNameOf(task));
    return locks.exclusive(id, async (held) => {
      // Another process may have used an id that a caller chose; one of our own making is not looked for.
      if (givenId !== undefined) await follower.reread(id, held);
      const broken = index.brokenFileOf(id);
      if (broken) throw brokenFileError(id, broken);
      if (index.find(id)) throw conflict(`A task with the id ${id} exists.`, { resourceType: 'task', resourceId: id });
      assertUniqueIdentity(index, 'create', task, path);
      const file = await writeTask({ dir, path, task, held });
      index.put(file);
      return file.task;
    });
  }

  /** Replaces a task by what `next` makes of it and answers the file as it is then. */
  async function mutate(
    id: string,
    operation: string,
    writer: Writer,
    next: (current: Task) => Task,
  ): Promise<TaskFile> {
    if (!isTaskId(id)) throw notFound('task', id);
    return locks.exclusive(id, async (held) => {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const { file, source } = await loadTask(deps, id, operation, held);
        assertRevision(file.task, writer.expectedRevision);
        const task = next(file.task);
        assertUniqueIdentity(index, operation, task, file.path);
        try {
          const seen = { signature: file.signature, source };
          const written = await writeTask({ dir, path: file.path, task, seen, held });
          index.put(written);
          return await place(written, destination(file, written.task));
        } catch (error) {
          if (!(error instanceof FileChangedError)) throw error;
        }
      }
      throw conflict(`The file of task ${id} keeps changing. Try again when that is done.`, {
        resourceType: 'task',
        resourceId: id,
      });
    });
  }

  /**
   * Gives a written file the name and folder it should have. The content is what counts and is written already, so a
   * name that is taken is left for the next time.
   */
  async function place(file: TaskFile, path: TaskPath): Promise<TaskFile> {
    if (path === file.path) return file;
    try {
      await moveFile(join(dir, file.path), join(dir, path));
    } catch (error) {
      deps.log.warn({ taskId: file.task.id, path, error: errorMessage(error) }, 'a task file could not be renamed');
      return file;
    }
    const stats = await statOf(join(dir, path));
    const moved: TaskFile = { ...file, path, signature: stats ? fingerprintOf(stats).signature : '', fresh: true };
    index.put(moved, file.path);
    if (partsOf(path).location === 'archive') await removeProgress(dir, file.task.id);
    return moved;
  }

  return {
    create,
    update: async (id, change, writer) => {
      const { task } = await mutate(id, 'update', writer, (current) =>
        revised(current, change(current), writer, clock()),
      );
      return task;
    },
    remove: async (id, writer) => {
      await mutate(id, 'delete', writer, (current) => {
        const now = clock();
        const purgeAfter = new Date(now.getTime() + purgeAfterMs).toISOString();
        return revised(current, { deletedAt: now.toISOString(), deletedBy: writer.actor, purgeAfter }, writer, now);
      });
    },
  };
}

/** The next version of a task; what identifies it and its revision are not for callers to change. */
function revised(current: Task, change: Partial<Task>, writer: Writer, now: Date): Task {
  const { id, createdAt, createdBy, revision } = current;
  const stamps = { updatedAt: now.toISOString(), updatedBy: writer.actor, revision: revision + 1 };
  return valid({ ...current, ...change, id, createdAt, createdBy, ...stamps });
}

function valid(raw: Record<string, unknown>): Task {
  try {
    return validTask(plain(raw) as Record<string, unknown>);
  } catch (error) {
    if (!(error instanceof TaskDocumentError)) throw error;
    throw validationError(error.issues);
  }
}

function assertRevision(current: Task, expectedRevision: number | undefined): void {
  if (expectedRevision === undefined || expectedRevision === current.revision) return;
  throw new AppError(
    'CONFLICT',
    409,
    `task ${current.id} has changed since it was loaded. Reload and retry with the latest revision.`,
    {
      resourceType: 'task',
      resourceId: current.id,
      expectedRevision,
      currentRevision: current.revision,
      current,
    },
  );
}

/** A changed title renames the file, deletion archives it; otherwise it stays where it is, whatever its name. */
function destination(before: TaskFile, task: Task): TaskPath {
  const { location, name } = partsOf(before.path);
  const renamed = task.title === before.task.title ? name : fileNameOf(task);
  return taskPath(task.deletedAt === undefined ? location : 'archive', renamed);
}
