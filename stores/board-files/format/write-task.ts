import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Task } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import { currentOperation } from '../../../platform/operations/operation';
import { excessOf } from '../../../platform/yaml/limits';
import type { TaskFile } from '../board-file';
import type { HeldLock } from '../task-locks';
import { replaceFile } from './durable-file';
import type { FrontMatter } from './front-matter';
import type { TaskPath } from './layout';
import { patchFrontMatter } from './patched-front-matter';
import { deepFreeze, plain } from './plain';
import { hashOf, maxTaskFileBytes } from './read-task-file';
import type { RecentSources, WrittenTask } from './recent-sources';
import { parseTask, partsOfTask, printTask, TaskDocumentError, taskOf } from './task-document';

export interface TaskWrite {
  dir: string;
  path: TaskPath;
  task: Task;
  /** The file the task is based on; both absent for a new file. */
  seen?: { signature: string; hash: string; source: FrontMatter };
  held: HeldLock;
  /** Remembers what is written. */
  recent: RecentSources;
}

/**
 * Writes a task's file, whole or not at all, and returns its new content.
 *
 * @throws FileChangedError when the file is not the seen one any more
 * @throws AppError 413 `TASK_TOO_LARGE` when the file could not be read again
 */
export async function writeTask({ dir, path, task, seen, held, recent }: TaskWrite): Promise<TaskFile> {
  const written = patch(task, seen?.source) ?? compose(task, seen?.source);
  const fingerprint = await replaceFile(join(dir, path), written.text, {
    seen: seen?.signature,
    beforeCommit: () => {
      held.assertHeld();
      currentOperation()?.noteWrite();
    },
  });
  const hash = hashOf(written.text);
  recent.put({ ...written, hash }, seen?.hash);
  return { kind: 'task', path, hash, ...fingerprint, task: written.task };
}

interface Composed extends WrittenTask {
  text: string;
}

/** The text for `task` where it follows from one that was written before; `undefined` where it has to be composed. */
function patch(task: Task, original: FrontMatter | undefined): Composed | undefined {
  if (!original?.printed) {
    return undefined;
  }
  const { fields, body } = partsOfTask(task);
  const patched = patchFrontMatter(fields, body, original);
  if (!patched || Buffer.byteLength(patched.text) > maxTaskFileBytes) {
    return undefined;
  }
  const readBack = readOrProblem(() => taskOf(patched.source, unwritten));
  return isTask(readBack, task) ? { ...patched, task: deepFreeze(readBack) } : undefined;
}

/** The text for `task`, and the task as it reads back: the index holds the file's content, never more. */
function compose(task: Task, original: FrontMatter | undefined): Composed {
  // Retained notations are tried first; a hand-written one that does not survive a move is printed again.
  let parsed: ReturnType<typeof parseTask> | TaskDocumentError | undefined;
  let text = '';
  for (const how of [...(original ? [{ original }] : []), {}, { quoted: true }]) {
    if (parsed instanceof TaskDocumentError && 'quoted' in how && excessOf(text, '') !== undefined) {
      break;
    }
    text = printTask(task, how);
    if (Buffer.byteLength(text) > maxTaskFileBytes) {
      throw tooLarge(task, `it would be larger than ${maxTaskFileBytes / 1024 / 1024} MiB`);
    }
    parsed = readOrProblem(() => parseTask(text, unwritten));
    if (parsed && !(parsed instanceof TaskDocumentError) && isTask(parsed.task, task)) {
      return { text, task: deepFreeze(parsed.task), source: { ...parsed.source, printed: true } };
    }
  }
  // The task itself is valid, so what is refused is the size of its front matter.
  if (parsed instanceof TaskDocumentError) {
    throw tooLarge(task, parsed.message);
  }
  throw new Error(`The task ${task.id} cannot be written as a file that reads back the same.`);
}

/** Of files that name the times of their tasks, as all that are written do. */
const unwritten = new Date(0);

/** Whether what was read is the task that was to be written. */
const isTask = (read: unknown, task: Task): read is Task => isDeepStrictEqual(read, plain(task));

function readOrProblem<T>(read: () => T): T | TaskDocumentError | undefined {
  try {
    return read();
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
