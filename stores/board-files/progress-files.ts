import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, notFound } from '../../platform/errors/app-error';
import { currentOperation } from '../../platform/operations/operation';
import { wellFormed } from '../../platform/text/well-formed';
import type { Follower, FollowerDeps } from './following/follower';
import { FileChangedError, replaceFile } from './format/durable-file';
import { partsOf, progressFolder } from './format/layout';
import { readTaskFile } from './format/read-task-file';
import { isTaskId } from './format/task-id';
import { loadTask } from './load-task';
import type { BoardTask, TaskProgress } from './types';

export type ProgressDeps = Pick<FollowerDeps, 'dir' | 'index' | 'locks'> & {
  follower: Pick<Follower, 'reread'>;
  /** The current task. */
  find: (id: string) => Promise<BoardTask | undefined>;
};

/** How often a file that changes under a write is read again before the writer gets an error. */
const maxAttempts = 10;

const progressPath = (dir: string, id: string): string => join(dir, progressFolder, `${id}.md`);

/** Progress as one markdown file per task beside the tasks: long texts would make every list of tasks long. */
export function createProgressFiles({ dir, index, locks, follower, find }: ProgressDeps): TaskProgress {
  async function readFile(id: string): Promise<{ text: string; signature?: string }> {
    const state = await readTaskFile(progressPath(dir, id));
    if (state.kind === 'missing') {
      return { text: '' };
    }
    if (state.kind === 'text') {
      return state;
    }
    throw conflict(`The progress of task ${id} cannot be read: the file ${progressFolder}/${id}.md ${state.problem}.`, {
      resourceType: 'task',
      resourceId: id,
    });
  }

  return {
    async read(id) {
      const task = await find(id);
      if (!task) {
        throw notFound('task', id);
      }
      return task.location === 'archive' ? '' : (await readFile(id)).text;
    },

    async change(id, change) {
      if (!isTaskId(id)) {
        throw notFound('task', id);
      }
      await locks.exclusive(id, async (held) => {
        const { file } = await loadTask({ index, follower }, id, { operation: 'progress', held });
        if (partsOf(file.path).location === 'archive') {
          throw conflict(`Task ${id} is archived. Restore it first.`, { resourceType: 'task', resourceId: id });
        }
        for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
          const { text, signature } = await readFile(id);
          try {
            await replaceFile(progressPath(dir, id), wellFormed(change(text)), {
              seen: signature,
              beforeCommit: () => {
                held.assertHeld();
                currentOperation()?.noteWrite();
              },
            });
            return;
          } catch (error) {
            if (!(error instanceof FileChangedError)) {
              throw error;
            }
          }
        }
        throw conflict(`The progress of task ${id} keeps changing. Try again when that is done.`, {
          resourceType: 'task',
          resourceId: id,
        });
      });
    },
  };
}

/** Forgets what was written about a task that is archived; call it under the task's lock, once the task has moved. */
export const removeProgress = (dir: string, id: string): Promise<void> => rm(progressPath(dir, id), { force: true });
