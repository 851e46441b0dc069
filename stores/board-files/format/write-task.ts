import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Task } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import { currentOperation, type Operation } from '../../../platform/operations/operation';
import { excessOf } from '../../../platform/yaml/limits';
import type { TaskFile } from '../board-file';
import type { HeldLock } from '../task-locks';
import { replaceFile } from './durable-file';
import type { FrontMatter } from './front-matter';
import type { TaskPath } from './layout';
import { patchFrontMatter } from './patched-front-matter';
import { frozenPlain, isPlain, plain } from './plain';
import { hashOf, maxTaskFileBytes } from './read-task-file';
import type { RecentSources, WrittenTask } from './recent-sources';
import { parseTask, partsOfTask, printTask, TaskDocumentError, taskOf, timeOf } from './task-document';
import { validField } from './valid-field';

export interface TaskWrite {
  dir: string;
  path: TaskPath;
  /** As {@link composeTask} has it. */
  composed: ComposedTask;
  /** The file the task is based on; absent for a new file. */
  seen?: SeenFile;
  held: HeldLock;
  /** Remembers what is written. */
  recent: RecentSources;
  /** The operations that the write is part of; the running one when absent. */
  operations?: readonly (Operation | undefined)[];
}

/** A task's file as it was read. */
export interface SeenFile {
  signature: string;
  hash: string;
  task: Task;
  source: FrontMatter;
}

/** What a task's file is going to be. */
export interface ComposedTask extends WrittenTask {
  text: string;
}

/**
 * The text of a task's file, and the task as it reads back. Writes nothing.
 *
 * @param seen the file the task is based on
 * @throws AppError 413 `TASK_TOO_LARGE` when the file could not be read again
 */
export function composeTask(task: Task, seen?: Pick<SeenFile, 'task' | 'source'>): ComposedTask {
  return (seen && patch(task, seen)) ?? compose(task, seen?.source);
}

/**
 * Writes a task's file, whole or not at all, and returns its new content.
 *
 * @throws FileChangedError when the file is not the seen one any more
 */
export async function writeTask({
  dir,
  path,
  composed: written,
  seen,
  held,
  recent,
  operations = [currentOperation()],
}: TaskWrite): Promise<TaskFile> {
  const fingerprint = await replaceFile(join(dir, path), written.text, {
    seen: seen?.signature,
    beforeCommit: () => {
      held.assertHeld();
      operations.forEach((operation) => operation?.noteWrite());
    },
  });
  const hash = hashOf(written.text);
  recent.put({ ...written, hash }, seen?.hash);
  return { kind: 'task', path, hash, ...fingerprint, task: written.task };
}

/** The text for `task` where it follows from one that was written before; `undefined` where it has to be composed. */
function patch(task: Task, seen: Pick<SeenFile, 'task' | 'source'>): ComposedTask | undefined {
  if (!seen.source.printed) {
    return undefined;
  }
  const { fields, body } = partsOfTask(task);
  const patched = patchFrontMatter(fields, body, seen.source);
  if (!patched || Buffer.byteLength(patched.text) > maxTaskFileBytes) {
    return undefined;
  }
  if (isPlain(seen.task) && isPlain(task)) {
    return readsAs(task, patched.source, seen.task) ? { ...patched, task } : undefined;
  }
  const readBack = readOrProblem(() => taskOf(patched.source, unwritten));
  return isTask(readBack, task) ? { ...patched, task: frozenPlain(readBack) } : undefined;
}

/** Whether what differs from the task before, which was read back, reads as it was written; the fields are the same ones. */
function readsAs(task: Task, { fields, body }: FrontMatter, before: Task): boolean {
  const { created, updated, ...rest } = fields;
  const times = { createdAt: timeOf(created, unwritten), updatedAt: timeOf(updated, unwritten) };
  const read: Record<string, unknown> = { ...rest, ...times, description: body };
  return Object.entries(task).every(([name, value]) => {
    if (value === before[name]) {
      return true;
    }
    const field = validField(name, read[name], before[name]);
    return isDeepStrictEqual(field?.value, value);
  });
}

/** The text for `task`, and the task as it reads back: the index holds the file's content, never more. */
function compose(task: Task, original: FrontMatter | undefined): ComposedTask {
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
      return { text, task: frozenPlain(parsed.task), source: { ...parsed.source, printed: true } };
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
