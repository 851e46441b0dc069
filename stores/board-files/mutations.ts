import { join } from 'node:path';
import type { Task, TaskCreate, TaskLocation } from '../../contracts/tasks/task';
import { statusTimes } from '../../domain/status-effects';
import { conflict, notFound } from '../../platform/errors/app-error';
import { currentOperation } from '../../platform/operations/operation';
import { brokenFileError, type TaskFile } from './board-file';
import type { Follower, FollowerDeps } from './following/follower';
import { FileChangedError, removeFile } from './format/durable-file';
import { assertUniqueIdentity } from './format/identity';
import { fileNameOf, partsOf, type TaskPath, taskPath } from './format/layout';
import { isTaskId, newTaskId } from './format/task-id';
import { writeTask } from './format/write-task';
import { loadTask } from './load-task';
import { createFileLocations, destination } from './location';
import { acceptable, assertRevision, isSameTask, nextVersion, withCurrentTask } from './next-version';
import { removeProgress } from './progress-files';
import type { Board, Writer } from './types';

export type MutationDeps = FollowerDeps & { follower: Follower };

/** How often a file that changes under a write is read again before the writer gets an error. */
const maxAttempts = 10;
const purgeAfterMs = 30 * 24 * 3_600_000;

/** One change of one task. */
interface Step {
  /** What a refusal calls it. */
  operation: string;
  writer: Writer;
  /** The folder the task is in afterwards; absent: the one it is in. */
  to?: TaskLocation;
  /** Whether the step is about the folder: then it fails when the file cannot be put there. */
  moves?: boolean;
  /** Whether a deleted task may be changed; otherwise there is none. */
  evenDeleted?: boolean;
  next: (current: Task, location: TaskLocation) => Task;
}

/** The ways a board is written to; all of them under the lock of the task. */
export function createMutations(deps: MutationDeps): Pick<Board, 'create' | 'update' | 'move' | 'remove' | 'purge'> {
  const { dir, index, locks, follower, recent, clock } = deps;
  const locations = createFileLocations(deps);

  async function create(
    input: TaskCreate,
    { actor, location = 'active', id: givenId }: { actor: string; location?: TaskLocation; id?: string },
  ): Promise<Task> {
    const operation = currentOperation();
    const id = givenId ?? newTaskId(clock());
    const now = clock().toISOString();
    const stamps = { createdAt: now, updatedAt: now, revision: 1, createdBy: actor, updatedBy: actor };
    const times = statusTimes(undefined, input.status ?? 'todo', now);
    const task = acceptable({ ...input, id, ...times, ...stamps });
    const path = taskPath(location, fileNameOf(task));
    // Another process may have used an id that a caller chose, or a first try of the operation; no other has a generated one.
    const isKnown = givenId !== undefined || operation?.repeated === true;
    return locks[isKnown ? 'exclusive' : 'exclusiveHere'](id, async (held) => {
      if (isKnown) {
        await follower.reread(id, held);
      }
      const broken = index.brokenFileOf(id);
      if (broken) {
        throw brokenFileError(id, broken);
      }
      const existing = index.find(id)?.task;
      // An earlier try of the same operation came this far.
      if (existing && operation?.owns(id) && existing.createdAt === now && existing.createdBy === actor) {
        return existing;
      }
      if (existing) {
        throw conflict(`The task ${id} already exists.`, { resourceType: 'task', resourceId: id });
      }
      assertUniqueIdentity(index, task, { operation: 'create', destinationPath: path });
      const file = await writeTask({ dir, path, task, held, recent });
      index.put(file);
      return file.task;
    });
  }

  /**
   * Replaces a task by what the step makes of it and returns the new file. The content is written first and the file is moved
   * after that: killed in between, the task is whole at its old path, and repeating the step ends it.
   */
  async function mutate(id: string, step: Step): Promise<TaskFile> {
    if (!isTaskId(id)) {
      throw notFound('task', id);
    }
    return locks.exclusive(id, async (held) => {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const loading = {
          operation: step.operation,
          evenDeleted: step.evenDeleted,
          ...(step.moves && { destination: (file: TaskFile) => destination(file, file.task, step.to) }),
          held,
        };
        const { file, source } = await loadTask(deps, id, loading);
        const { task, path } = await plan(file, step).catch((error: unknown) => {
          throw withCurrentTask(error, file.task);
        });
        // A change that changes nothing is no version of its own.
        if (path === file.path && isSameTask(task, file.task)) {
          return file;
        }
        const seen = { signature: file.signature, hash: file.hash, source };
        const written = await writeTask({ dir, path: file.path, task, seen, held, recent }).catch(unlessFileChanged);
        if (written) {
          return step.moves ? locations.relocate(written, path, held) : locations.place(written, path);
        }
      }
      throw conflict(`The file of task ${id} keeps changing. Try again when that is done.`, {
        resourceType: 'task',
        resourceId: id,
      });
    });
  }

  async function purge(id: string, release: (task: Task) => Promise<boolean>): Promise<boolean> {
    return locks.exclusive(id, async (held) => {
      const { file } = await loadTask(deps, id, { operation: 'purge', evenDeleted: true, held });
      if (partsOf(file.path).location !== 'archive' || !(await release(file.task))) {
        return false;
      }
      await removeFile(join(dir, file.path), file.signature, () => held.assertHeld());
      index.drop(file.path);
      await removeProgress(dir, id);
      return true;
    });
  }

  /** The next version of a task and its file. @throws AppError for what refuses the step */
  async function plan(file: TaskFile, step: Step): Promise<{ task: Task; path: TaskPath }> {
    assertRevision(file.task, step.writer.expectedRevision);
    const task = step.next(file.task, partsOf(file.path).location);
    const path = destination(file, task, step.to);
    assertUniqueIdentity(index, task, { operation: step.operation, destinationPath: path });
    if (step.moves) {
      await locations.assertFree(file, path);
    }
    return { task, path };
  }

  return {
    create,
    update: async (id, change, writer) => {
      const next: Step['next'] = (current, location) =>
        nextVersion(current, change(current, location), { writer, now: clock() });
      return (await mutate(id, { operation: 'update', writer, next })).task;
    },
    move: async (id, change, { to, operation, evenDeleted, ...writer }) => {
      const next: Step['next'] = (current, location) =>
        nextVersion(current, change(current, location), { writer, now: clock() });
      return (await mutate(id, { operation, writer, to, moves: true, evenDeleted, next })).task;
    },
    remove: async (id, { check, ...writer }) => {
      const next: Step['next'] = (current, location) => {
        check?.(current, location);
        const now = clock();
        const purgeAfter = new Date(now.getTime() + purgeAfterMs).toISOString();
        return nextVersion(
          current,
          { deletedAt: now.toISOString(), deletedBy: writer.actor, purgeAfter },
          { writer, now },
        );
      };
      await mutate(id, { operation: 'delete', writer, to: 'archive', next });
    },
    purge,
  };
}

/** `undefined` for a file that an editor changed meanwhile, which is read again. */
function unlessFileChanged(error: unknown): undefined {
  if (!(error instanceof FileChangedError)) {
    throw error;
  }
}
