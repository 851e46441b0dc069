import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../platform/errors/app-error';
import { interpret, type TaskFile } from './board-file';
import type { FollowerDeps } from './following/follower';
import { claimsOf } from './format/business-id';
import type { UnindexedClaimants } from './format/identity';
import { isTaskFileName, locations, nameSuggests, type TaskPath, taskPath } from './format/layout';
import { isMissing, readTaskFile, statOf } from './format/read-task-file';
import { isTaskId } from './format/task-id';
import { lockFolder } from './task-locks';

export interface IdentityClaims {
  /**
   * Runs `work`, which gives business ids to a task, while no other work does the same with any of them, in this process or in
   * any other that shares the board directory.
   *
   * @param work is passed the tasks that were given one of them last
   * @throws AppError 503 `TASK_BUSY` when another process does not release an id within 8 s
   */
  exclusive<T>(businessIds: readonly string[], work: (unindexed: UnindexedClaimants) => Promise<T>): Promise<T>;
  /** Notes, under the locks of the ids, that a task was given them. */
  note(businessIds: readonly string[], taskId: string): Promise<void>;
}

/** The indexes of all processes have a change within seconds. */
const noteLifetimeMs = 60_000;
const noteName = /^identity-[0-9a-f]{64}\.note$/;

const lockOf = (businessId: string): string => `identity-${createHash('sha256').update(businessId).digest('hex')}`;

/**
 * Locks of business ids. Beside each is a note of the task that was given the id last, for processes whose index does not have that
 * yet. What claims the id is the file of the task, and not the note.
 */
export function createIdentityClaims({
  dir,
  index,
  locks,
  log,
  recent,
}: Pick<FollowerDeps, 'dir' | 'index' | 'locks' | 'log' | 'recent'>): IdentityClaims {
  const folder = join(dir, lockFolder);
  const noteOf = (businessId: string): string => join(folder, `${lockOf(businessId)}.note`);

  /** Where the file of a task may be: where it was, or where its name leads to if it was moved or renamed since. */
  async function pathsOf(taskId: string): Promise<Set<TaskPath>> {
    const paths = new Set(index.pathsOf(taskId));
    for (const location of locations) {
      const names = (await readdir(join(dir, location)).catch(unlessMissing)) ?? [];
      for (const name of names.filter((one) => isTaskFileName(one) && nameSuggests(one, taskId))) {
        paths.add(taskPath(location, name));
      }
    }
    return paths;
  }

  async function lastClaimants(businessId: string): Promise<TaskFile[]> {
    const taskId = (await readFile(noteOf(businessId), 'utf8').catch(unlessMissing)) ?? '';
    const claimants: TaskFile[] = [];
    for (const path of isTaskId(taskId) ? await pathsOf(taskId) : []) {
      const state = await readTaskFile(join(dir, path));
      const file = state.kind === 'missing' ? undefined : interpret(path, state, recent).file;
      if (file?.kind === 'task' && claimsOf(file.task).includes(businessId)) {
        claimants.push(file);
      }
    }
    return claimants;
  }

  /** Locks the ids in one order: otherwise two changes may each wait for an id that the other has locked. */
  const lockAll = <T>([id, ...others]: readonly string[], work: () => Promise<T>): Promise<T> =>
    id === undefined ? work() : locks.exclusive(lockOf(id), () => lockAll(others, work));

  return {
    exclusive: (businessIds, work) =>
      lockAll([...businessIds].sort(), async () => {
        const found = new Map<string, TaskFile[]>();
        for (const id of businessIds) {
          found.set(id, await lastClaimants(id));
        }
        return work((id) => found.get(id) ?? []);
      }),
    note: async (businessIds, taskId) => {
      for (const id of businessIds) {
        // The task is written: other processes find it in its file, if later.
        await writeFile(noteOf(id), taskId).catch((error: unknown) =>
          log.warn({ taskId, error: errorMessage(error) }, 'identity note not written'),
        );
      }
    },
  };
}

/** Removes the notes that every process has indexed meanwhile. */
export async function sweepIdentityNotes(dir: string): Promise<void> {
  const folder = join(dir, lockFolder);
  for (const name of ((await readdir(folder).catch(unlessMissing)) ?? []).filter((entry) => noteName.test(entry))) {
    const stats = await statOf(join(folder, name));
    if (stats && Date.now() - stats.mtimeMs > noteLifetimeMs) {
      await rm(join(folder, name), { force: true });
    }
  }
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) {
    throw error;
  }
}
