import type { BoardDiagnostic, Task, TaskCreate, TaskLocation, TaskQuery } from '../../contracts/tasks/task';
import type { Log } from '../../platform/log/log';
import type { SelectedTasks } from './index/query';

export interface BoardOptions {
  /** The board directory; made with `active/`, `backlog/` and `archive/` when missing. */
  dir: string;
  log: Log;
  /** The time for `createdAt`, `updatedAt` and ids. */
  clock?: () => Date;
  /** How often the files are compared with the index in case the watcher missed something; default 1,000 ms. */
  rescanMs?: number;
}

/** A task, the folder it is in and the absolute path of its file. Tasks are frozen: the index shares them. */
export interface BoardTask {
  task: Task;
  location: TaskLocation;
  path: string;
}

/** `task` is absent when the task is gone. */
export interface BoardChange {
  taskId: string;
  kind: 'created' | 'updated' | 'deleted' | 'moved';
  task?: Task;
  location: TaskLocation;
}

export interface Writer {
  /** Recorded as `createdBy`, `updatedBy` or `deletedBy`, e.g. `service:admin`. */
  actor: string;
  /** The revision the writer has seen; another one on disk refuses the write with 409. */
  expectedRevision?: number;
  /**
   * Which gates of transition rules it passes: all when absent. `completion` is for what a run has done already, whose start was
   * admitted by the same gates and whose end cannot be refused.
   */
  gates?: 'all' | 'completion';
}

/** What has been done on each task so far: markdown in a file of its own, which is gone when the task is archived. */
export interface TaskProgress {
  /** Empty when nothing was written. @throws AppError 404 for an unknown task, 409 when a file cannot be read */
  read(id: string): Promise<string>;
  /**
   * Replaces the text by what `change` makes of it, as one step under the task's lock; `change` may run more than once.
   * The task itself stays at its revision.
   *
   * @throws AppError 404 for an unknown task, 409 for one that is archived or whose files cannot be read
   */
  change(id: string, change: (text: string) => string): Promise<void>;
}

/** What a task becomes: fields to replace, `undefined` to remove one. May run more than once, and has no effects. */
export type TaskChange = (current: Task, location: TaskLocation) => Partial<Task>;

export interface Mover extends Writer {
  to: TaskLocation;
  /** What a refusal calls the move: `archive`, `restore`, `promote`, `demote`. */
  operation: string;
  /** Whether a deleted task is moved as well, so that it can be restored; otherwise it is not found. */
  evenDeleted?: boolean;
}

export interface Remover extends Writer {
  /** Throws to refuse; runs under the lock with the newest task, possibly more than once. */
  check?: (current: Task, location: TaskLocation) => void;
}

/**
 * Tasks as markdown files. The files are the truth and several processes, hosts and editors may change them; each board has an
 * index in memory that follows them.
 *
 * Refusals are `AppError`: 400 for a task that the contract refuses, 404 for an unknown id, 409 for a stale revision,
 * a file that cannot be read and an identity that two files claim, 503 when another process holds a task's lock for 8 s.
 */
export interface Board {
  /** `id` makes the create repeatable: a second one with the same id is refused with 409. */
  create(input: TaskCreate, options: { actor: string; location?: TaskLocation; id?: string }): Promise<Task>;
  /** The current file, also after changes by others. @throws AppError 409 when it cannot be read */
  get(id: string): Promise<BoardTask | undefined>;
  /** From memory, newest `updatedAt` first, then by id; up to 10,000, or one page. `total` counts every match. */
  list(query: TaskQuery, location?: TaskLocation): SelectedTasks;
  /** Active tasks per status, plus `backlog` and `archived`. */
  counts(): Record<string, number>;
  /** Replaces the fields that `change` returns; `change` runs under the lock with the newest task. */
  update(id: string, change: TaskChange, options: Writer): Promise<Task>;
  /**
   * Changes fields and folder as one step; listeners receive it as one change. `change` throws to refuse a task in the wrong
   * folder. A process killed in the middle leaves the task whole, once, possibly with its fields changed but not its folder;
   * the same move again ends it.
   *
   * @throws AppError 409 also when the name of the file is taken in the folder `to`
   */
  move(id: string, change: TaskChange, options: Mover): Promise<Task>;
  /** Moves the task to the archive with `deletedAt`, `deletedBy` and `purgeAfter`; it is not listed or got any more. */
  remove(id: string, options: Remover): Promise<void>;
  /** Every task in the archive, deleted ones too, from memory. */
  inArchive(): readonly Task[];
  /**
   * Removes the file of a task in the archive, deleted or not, and its progress, for good.
   *
   * @param release whether to remove it, called under its lock with the current task; releases what the task holds elsewhere
   * @returns whether it is gone: `false` when it was retained, or is not in the archive
   */
  purge(id: string, release: (task: Task) => Promise<boolean>): Promise<boolean>;
  readonly progress: TaskProgress;
  /**
   * Runs `work` while no other work of this name runs on the board, in any process: for what concerns several tasks and
   * must not be decided twice at once. `name` is no task id; `held` throws once the lock was lost.
   *
   * @throws AppError 503 `TASK_BUSY` when another process does not release it within 8 s
   */
  exclusive<T>(name: string, work: (held: { assertHeld(): void }) => Promise<T>): Promise<T>;
  /** Files that are not touched until a person repairs them. */
  diagnostics(): BoardDiagnostic[];
  /** Grows with every change of what `list`, `counts` and `diagnostics` return. */
  readonly version: number;
  /** Calls `listener` once per task and revision, whichever process made it; returns how to stop. */
  onChange(listener: (change: BoardChange) => void): () => void;
  /** Waits for what is under way and releases watchers, timers and locks. */
  close(): Promise<void>;
}
