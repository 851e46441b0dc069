import { join } from 'node:path';
import type { Task, TaskCreate, TaskLocation } from '../../contracts/tasks/task';
import { statusTimes } from '../../domain/status-effects';
import { timerEnded } from '../../domain/time/entries';
import { conflict, notFound } from '../../platform/errors/app-error';
import { currentOperation } from '../../platform/operations/operation';
import { brokenFileError, type TaskFile } from './board-file';
import type { Follower, FollowerDeps } from './following/follower';
import { claimsOf } from './format/business-id';
import { FileChangedError, removeFile } from './format/durable-file';
import { assertUniqueIdentity, noClaimants, type UnindexedClaimants } from './format/identity';
import { fileNameOf, partsOf, type TaskPath, taskPath } from './format/layout';
import { frozenPlain, plain } from './format/plain';
import { isTaskId, newTaskId } from './format/task-id';
import { type ComposedTask, composeTask, writeTask } from './format/write-task';
import { createIdentityClaims } from './identity-claims';
import { loadTask } from './load-task';
import { createFileLocations, destination } from './location';
import { acceptable, assertRevision, isSameTask, nextVersion, withCurrentTask } from './next-version';
import { removeProgress } from './progress-files';
import { createStepGroups, type Step, type WaitingStep } from './step-groups';
import type { HeldLock } from './task-locks';
import type { Board } from './types';

/** A version of a task, and where its file is to be. */
interface PlannedVersion extends Pick<WaitingStep, 'operation' | 'inContext'> {
  task: Task;
  path: TaskPath;
}

interface PlannedGroup {
  versions: PlannedVersion[];
  /** Acknowledges or refuses each step, once the versions are written. */
  settle: () => void;
}

/** What is locked while a group is applied: its task, and business ids with who else may have been given them. */
interface Locked {
  held: HeldLock;
  ids: readonly string[];
  unindexed: UnindexedClaimants;
}

export type MutationDeps = FollowerDeps & { follower: Follower };

/** How often a file that changes under a write is read again before the writer gets an error. */
const maxAttempts = 10;
const purgeAfterMs = 30 * 24 * 3_600_000;

/** The ways a board is written to; all of them under the lock of the task. */
export function createMutations(deps: MutationDeps): Pick<Board, 'create' | 'update' | 'move' | 'remove' | 'purge'> {
  const { dir, index, locks, follower, recent, writing, clock } = deps;
  const locations = createFileLocations(deps);
  const claims = createIdentityClaims(deps);

  /** Keeps others from reading the file while `work` writes it and puts it into the index. */
  async function whileWriting<T>(path: TaskPath, work: () => Promise<T>): Promise<T> {
    writing.add(path);
    try {
      return await work();
    } finally {
      writing.delete(path);
    }
  }

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
      return claims.exclusive(claimsOf(task), (unindexed) => {
        assertUniqueIdentity(index, task, { operation: 'create', destinationPath: path, unindexed });
        const composed = composeTask(task);
        return whileWriting(path, async () => {
          const file = await writeTask({ dir, path, composed, held, recent });
          index.put(file);
          await claims.note(claimsOf(task), id);
          return file.task;
        });
      });
    });
  }

  const mutateInGroup = createStepGroups(locks, applyGroup);

  async function mutate(id: string, step: Step): Promise<Task> {
    if (!isTaskId(id)) {
      throw notFound('task', id);
    }
    return mutateInGroup(id, step);
  }

  /**
   * Replaces a task by what the steps make of it, one after the other, and acknowledges each once all are written; a step that is
   * refused leaves the others. The content is written first and the file is moved after that: killed in between, the task is whole
   * at its old path, and repeating the step ends it.
   */
  async function applyGroup(id: string, steps: readonly WaitingStep[], held: HeldLock): Promise<void> {
    let missing = await applyLocked(id, steps, { held, ids: [], unindexed: noClaimants });
    while (missing.length > 0) {
      const ids = missing;
      missing = await claims.exclusive(ids, (unindexed) => applyLocked(id, steps, { held, ids, unindexed }));
    }
  }

  /** @returns the business ids without whose locks nothing was written; none once the group is applied */
  async function applyLocked(id: string, steps: readonly WaitingStep[], locked: Locked): Promise<string[]> {
    const { held, ids, unindexed } = locked;
    const [{ step: first }] = steps as [WaitingStep];
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const loading = {
        operation: first.operation,
        evenDeleted: first.evenDeleted,
        ...(first.moves && { destination: (file: TaskFile) => destination(file, file.task, first.to) }),
        held,
      };
      const { file, source } = await loadTask(deps, id, loading);
      const planned = await planAll(file, steps, unindexed);
      const seen = { ...file, source };
      const last = planned.versions.at(-1);
      let composed: ComposedTask | undefined;
      try {
        composed = last && composeTask(last.task, seen);
      } catch (error) {
        if (steps.length === 1) {
          throw error;
        }
        // One of them makes the file too large: nothing is written yet, and each is for itself.
        await applyEach(id, steps, held);
        return [];
      }
      if (!last || !composed) {
        planned.settle();
        return [];
      }
      const gained = planned.versions.flatMap(({ task }) => claimsOf(task));
      const missing = gained.filter((gain) => !claimsOf(file.task).includes(gain) && !ids.includes(gain));
      if (missing.length > 0) {
        return [...new Set([...ids, ...missing])];
      }
      const operations = planned.versions.map(({ operation }) => operation);
      const write = { dir, path: file.path, composed, seen, held, recent, operations };
      const isWritten = await whileWriting(file.path, async () => {
        const written = await writeTask(write).catch(unlessFileChanged);
        if (!written) {
          return false;
        }
        publish(written, planned.versions.slice(0, -1));
        await last.inContext(() =>
          first.moves ? locations.relocate(written, last.path, held) : locations.place(written, last.path),
        );
        const claimed = claimsOf(last.task);
        await claims.note(
          ids.filter((one) => claimed.includes(one)),
          id,
        );
        return true;
      });
      if (isWritten) {
        planned.settle();
        return [];
      }
    }
    throw conflict(`The file of task ${id} keeps changing. Try again when that is done.`, {
      resourceType: 'task',
      resourceId: id,
    });
  }

  async function applyEach(id: string, steps: readonly WaitingStep[], held: HeldLock): Promise<void> {
    for (const one of steps) {
      await applyGroup(id, [one], held).catch(one.reject);
    }
  }

  /** Listeners receive every version, though only the last of a group has ever been in the file. */
  function publish(written: TaskFile, earlier: readonly PlannedVersion[]): void {
    for (const { task, inContext } of earlier) {
      inContext(() => index.put({ ...written, task, hash: `${written.hash} ${task.revision}` }));
    }
  }

  /** What each step makes of the task, at the version that the steps before it have made. */
  async function planAll(
    file: TaskFile,
    steps: readonly WaitingStep[],
    unindexed: UnindexedClaimants,
  ): Promise<PlannedGroup> {
    const versions: PlannedVersion[] = [];
    const settles: (() => void)[] = [];
    let current = file;
    for (const { step, operation, inContext, resolve, reject } of steps) {
      const { task: before } = current;
      try {
        const { task: planned, path } = await inContext(() => plan(current, step, unindexed));
        // A change that changes nothing is no version of its own.
        if (path === current.path && isSameTask(planned, before)) {
          settles.push(() => resolve(before));
          continue;
        }
        const task = frozenPlain(plain(planned) as Task);
        current = { ...current, path, task };
        versions.push({ task, path, operation, inContext });
        settles.push(() => resolve(task));
      } catch (error) {
        settles.push(() => reject(withCurrentTask(error, before)));
      }
    }
    return { versions, settle: () => settles.forEach((settle) => settle()) };
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
  async function plan(
    file: TaskFile,
    step: Step,
    unindexed: UnindexedClaimants,
  ): Promise<{ task: Task; path: TaskPath }> {
    assertRevision(file.task, step.writer.expectedRevision);
    const task = step.next(file.task, partsOf(file.path).location);
    const path = destination(file, task, step.to);
    assertUniqueIdentity(index, task, { operation: step.operation, destinationPath: path, unindexed });
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
      return mutate(id, { operation: 'update', writer, next });
    },
    move: async (id, change, { to, operation, evenDeleted, ...writer }) => {
      const next: Step['next'] = (current, location) =>
        nextVersion(current, change(current, location), { writer, now: clock() });
      return mutate(id, { operation, writer, to, moves: true, evenDeleted, next });
    },
    remove: async (id, { check, ...writer }) => {
      const next: Step['next'] = (current, location) => {
        check?.(current, location);
        const now = clock();
        const purgeAfter = new Date(now.getTime() + purgeAfterMs).toISOString();
        return nextVersion(
          current,
          { ...timerEnded(current, now), deletedAt: now.toISOString(), deletedBy: writer.actor, purgeAfter },
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
