import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Task } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import { currentOperation } from '../../../platform/operations/operation';
import type { TaskFile } from '../board-file';
import type { HeldLock } from '../task-locks';
import { replaceFile } from './durable-file';
import type { FrontMatter } from './front-matter';
import type { TaskPath } from './layout';
import { deepFreeze, plain } from './plain';
import { fingerprintOf, hashOf, maxTaskFileBytes, statOf } from './read-task-file';
import { parseTask, printTask, TaskDocumentError } from './task-document';

export interface TaskWrite {
  dir: string;
  path: TaskPath;
  task: Task;
  /** The file the task is based on; both absent for a new file. */
  seen?: { signature: string; source: FrontMatter };
  held: HeldLock;
}

/**
 * Writes a task's file, whole or not at all, and returns its new content.
 *
 * @throws FileChangedError when the file is not the seen one any more
 * @throws AppError 413 `TASK_TOO_LARGE` when the file could not be read again
 */
export async function writeTask({ dir, path, task, seen, held }: TaskWrite): Promise<TaskFile> {
  const written = compose(task, seen?.source);
  await replaceFile(join(dir, path), written.text, {
    seen: seen?.signature,
    beforeCommit: () => {
      held.assertHeld();
      currentOperation()?.noteWrite();
    },
  });
  const stats = await statOf(join(dir, path));
  // Fresh: the next check reads the file again, in case an editor changed it before its times were read.
  return {
    kind: 'task',
    path,
    hash: hashOf(written.text),
    signature: stats ? fingerprintOf(stats).signature : '',
    fresh: true,
    task: written.task,
  };
}

/** The text for `task`, and the task as it reads back: the index holds the file's content, never more. */
function compose(task: Task, original: FrontMatter | undefined): { text: string; task: Task } {
  // Retained notations are tried first; a hand-written one that does not survive a move is printed again.
  let readBack: Task | TaskDocumentError | undefined;
  for (const source of original ? [original, undefined] : [undefined]) {
    const text = printTask(task, source);
    if (Buffer.byteLength(text) > maxTaskFileBytes) {
      throw tooLarge(task, `it would be larger than ${maxTaskFileBytes / 1024 / 1024} MiB`);
    }
    readBack = parsed(text);
    if (isDeepStrictEqual(readBack, plain(task))) {
      return { text, task: deepFreeze(readBack as Task) };
    }
  }
  // The task itself is valid, so what is refused is the size of its front matter.
  if (readBack instanceof TaskDocumentError) {
    throw tooLarge(task, readBack.message);
  }
  throw new Error(`The task ${task.id} cannot be written as a file that reads back the same.`);
}

function parsed(text: string): Task | TaskDocumentError | undefined {
  try {
    return parseTask(text, new Date(0)).task;
  } catch (error) {
    return error instanceof TaskDocumentError ? error : undefined;
  }
}

const tooLarge = ({ id }: Task, reason: string): AppError =>
  new AppError('TASK_TOO_LARGE', {
    status: 413,
    message: `The task ${id} does not fit into its file: ${reason}. Shorten it first.`,
    details: { resourceType: 'task', resourceId: id },
  });
