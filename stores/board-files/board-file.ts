import type { Task } from '../../contracts/tasks/task';
import { AppError, errorMessage } from '../../platform/errors/app-error';
import type { FrontMatter } from './format/front-matter';
import type { TaskPath } from './format/layout';
import { deepFreeze } from './format/plain';
import type { FileState, Fingerprint } from './format/read-task-file';
import type { RecentSources } from './format/recent-sources';
import { parseTask, TaskDocumentError } from './format/task-document';

/** A file that holds a task. */
export interface TaskFile extends Fingerprint {
  kind: 'task';
  path: TaskPath;
  hash: string;
  task: Task;
}

/** A file that cannot be read as a task; it is never written, renamed or deleted. */
export interface BrokenFile extends Fingerprint {
  kind: 'broken';
  path: TaskPath;
  code: 'unreadable' | 'invalid';
  message: string;
  /** The task that was in the file before, when this process has seen it. */
  lastId?: string;
}

export type BoardFile = TaskFile | BrokenFile;

/**
 * Makes sense of what was read. `source` is what a later write needs to preserve the notation of the file.
 *
 * @param recent what was written last, which needs no parser
 */
export function interpret(
  path: TaskPath,
  state: Exclude<FileState, { kind: 'missing' }>,
  recent: Pick<RecentSources, 'get'>,
): { file: BoardFile; source?: FrontMatter } {
  const { signature, fresh } = state;
  if (state.kind === 'unreadable') {
    return {
      file: { kind: 'broken', path, signature, fresh, code: 'unreadable', message: `The file ${state.problem}.` },
    };
  }
  try {
    const { hash } = state;
    const { task, source } = recent.get(hash) ?? parseTask(state.text, state.writtenAt);
    return { file: { kind: 'task', path, signature, fresh, hash, task: deepFreeze(task) }, source };
  } catch (error) {
    if (!(error instanceof TaskDocumentError)) {
      throw error;
    }
    return { file: { kind: 'broken', path, signature, fresh, code: 'invalid', message: errorMessage(error) } };
  }
}

/** What every use of a task whose file is broken is refused with. */
export const brokenFileError = (id: string, file: BrokenFile): AppError =>
  new AppError('CONFLICT', {
    status: 409,
    message: `Task ${id} cannot be read from its file ${file.path}: ${file.message} Repair the file; it is not changed until then.`,
    details: { resourceType: 'task', resourceId: id, path: file.path, code: file.code, problem: file.message },
  });
