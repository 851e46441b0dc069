import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../../platform/errors/app-error';
import { interpret } from '../board-file';
import type { FollowerDeps, LoadedTask } from '../following/follower';
import type { HeldLock } from '../task-locks';
import { FileChangedError } from './durable-file';
import { fingerprintOf, readTaskFile, statOf } from './read-task-file';
import { composeTask, writeTask } from './write-task';

/** Recorded as `updatedBy`: a file does not record its editor. */
const handEditor = 'file:hand-edit';

/** Editors write in several steps; a file that has been quiet for this long is complete. */
const settleMs = 200;
const maxRounds = 20;

/**
 * Gives a hand edit the next revision, by writing the file back. A revision then identifies one content in every process, and a
 * writer who has not seen the edit is refused.
 *
 * @returns the file after that, or `undefined` when it stopped being this task meanwhile
 * @throws AppError 409 when the file does not come to rest
 */
export async function stampHandEdit(
  { dir, index, recent, clock }: Pick<FollowerDeps, 'dir' | 'index' | 'recent' | 'clock'>,
  edited: LoadedTask,
  held: HeldLock,
): Promise<LoadedTask | undefined> {
  const { path } = edited.file;
  const { id } = edited.file.task;
  for (let round = 0; round < maxRounds; round += 1) {
    if (!(await isSettled(join(dir, path)))) {
      continue;
    }
    const state = await readTaskFile(join(dir, path));
    if (state.kind === 'missing') {
      return undefined;
    }
    const { file, source } = interpret(path, state, recent);
    if (file.kind === 'broken' || !source || file.task.id !== id) {
      index.put(file);
      return undefined;
    }
    const revision = index.knownRevision(id) + 1;
    const task = { ...file.task, revision, updatedAt: clock().toISOString(), updatedBy: handEditor };
    try {
      const seen = { ...file, source };
      const written = await writeTask({ dir, path, composed: composeTask(task, seen), seen, held, recent });
      return { file: written, source };
    } catch (error) {
      if (!(error instanceof FileChangedError)) {
        throw error;
      }
    }
  }
  throw new AppError('CONFLICT', {
    status: 409,
    message: `The file ${path} of task ${id} is being edited. Try again when that is done.`,
    details: { resourceType: 'task', resourceId: id, path },
  });
}

/** Waits until nothing has been written for a while; false when something was written while waiting. */
async function isSettled(path: string): Promise<boolean> {
  const before = await statOf(path);
  if (!before) {
    return true;
  }
  const quietMs = Date.now() - before.mtimeMs;
  if (quietMs >= settleMs) {
    return true;
  }
  // A time in the future is another host's clock: wait the whole time once.
  await delay(quietMs < 0 ? settleMs : settleMs - quietMs);
  const after = await statOf(path);
  return after !== undefined && fingerprintOf(after).signature === fingerprintOf(before).signature;
}
