import { type Task, type TaskLocation, taskLocation } from '../../../contracts/tasks/task';
import type { BoardFile, BrokenFile, TaskFile } from '../board-file';
import { businessIdsOf } from '../format/business-id';
import { nameSuggests, partsOf, type TaskPath } from '../format/layout';
import type { BoardChange } from '../types';
import { SortedTasks } from './sorted-tasks';

/**
 * The files' content, in memory. It records files (`put`, `drop`) and returns tasks; a task's state follows from the files that
 * claim its id, and listeners receive the difference.
 */
export class TaskIndex {
  #version = 0;
  readonly #files = new Map<TaskPath, BoardFile>();
  readonly #pathsById = new Map<string, Set<TaskPath>>();
  readonly #broken = new Set<TaskPath>();
  readonly #lists = new Map<TaskLocation, SortedTasks>(taskLocation.options.map((name) => [name, new SortedTasks()]));
  /** The last state published of each task; it stays while a task's file is broken, since the task is not gone. */
  readonly #shown = new Map<string, TaskFile>();
  /** The ids of shown tasks per business id. */
  readonly #claimants = new Map<string, Set<string>>();
  /** The last content seen per id, also after the file is gone: a revision never comes back with other content. */
  readonly #known = new Map<string, { revision: number; hash: string }>();

  constructor(private readonly emit: (change: BoardChange) => void) {}

  get version(): number {
    return this.#version;
  }

  fileAt(path: TaskPath): BoardFile | undefined {
    return this.#files.get(path);
  }

  paths(): TaskPath[] {
    return [...this.#files.keys()];
  }

  pathsOf(id: string): TaskPath[] {
    return [...(this.#pathsById.get(id) ?? [])];
  }

  /** The files that hold a task with this id; more than one is a duplicate identity. */
  filesOf(id: string): TaskFile[] {
    return this.pathsOf(id)
      .map((path) => this.#files.get(path))
      .filter((file): file is TaskFile => file?.kind === 'task');
  }

  /** The file that speaks for the task: of duplicates one that is not deleted, then the highest revision. */
  find(id: string): TaskFile | undefined {
    const files = this.filesOf(id);
    if (files.length > 1) {
      files.sort(
        (a, b) =>
          Number(isDeleted(a)) - Number(isDeleted(b)) ||
          b.task.revision - a.task.revision ||
          (a.path < b.path ? -1 : 1),
      );
    }
    return files[0];
  }

  /** The broken file that is, or by its name claims to be, this task. */
  brokenFileOf(id: string): BrokenFile | undefined {
    if (this.#broken.size === 0) {
      return undefined;
    }
    return this.brokenFiles().find((file) =>
      file.lastId ? file.lastId === id : nameSuggests(partsOf(file.path).name, id),
    );
  }

  brokenFiles(): BrokenFile[] {
    return [...this.#broken]
      .map((path) => this.#files.get(path))
      .filter((file): file is BrokenFile => file?.kind === 'broken');
  }

  /** Tasks of one folder that are not deleted, in the order of lists. */
  tasksIn(location: TaskLocation): readonly Task[] {
    return this.#lists.get(location)?.all ?? [];
  }

  /** Tasks of one folder, deleted ones too, in no particular order. */
  tasksAt(location: TaskLocation): Task[] {
    return this.paths()
      .filter((path) => partsOf(path).location === location)
      .map((path) => this.#files.get(path))
      .filter((file): file is TaskFile => file?.kind === 'task')
      .map(({ task }) => task);
  }

  /** The files of tasks that claim a business id. Deleted tasks retain their id, but claim nothing any more. */
  claimantsOf(businessId: string): TaskFile[] {
    return [...(this.#claimants.get(businessId) ?? [])]
      .map((id) => this.#shown.get(id))
      .filter((file): file is TaskFile => file !== undefined);
  }

  /** Task ids and business ids that several files claim. */
  sharedIdentities(): { id: string; files: TaskFile[] }[] {
    const taskIds = [...this.#pathsById].filter(([, paths]) => paths.size > 1).map(([id]) => id);
    const businessIds = [...this.#claimants].filter(([, ids]) => ids.size > 1).map(([id]) => id);
    return [
      ...taskIds.map((id) => ({ id, files: this.filesOf(id) })),
      ...businessIds.map((id) => ({ id, files: this.claimantsOf(id) })),
    ];
  }

  /** The content changed, but the revision did not grow: an editor that ignores revisions changed the file. */
  isHandEdit({ task, hash }: TaskFile): boolean {
    const version = this.#known.get(task.id);
    return version !== undefined && version.hash !== hash && task.revision <= version.revision;
  }

  knownRevision(id: string): number {
    return this.#known.get(id)?.revision ?? 0;
  }

  /** Takes note of a file; `from` is the path it had before, when it was moved. */
  put(file: BoardFile, from: TaskPath = file.path): void {
    const before = this.#files.get(from);
    const overwritten = this.#files.get(file.path);
    if (overwritten && from === file.path && isSame(overwritten, file)) {
      this.#files.set(file.path, { ...overwritten, signature: file.signature, fresh: file.fresh });
      return;
    }
    this.#forget(from);
    this.#forget(file.path);
    this.#remember(file.kind === 'broken' ? withLastId(file, overwritten) : file);
    this.#publish([before, overwritten, file]);
  }

  /** Takes note that there is no file at `path` any more. */
  drop(path: TaskPath): void {
    const before = this.#files.get(path);
    if (!before) {
      return;
    }
    this.#forget(path);
    this.#publish([before]);
  }

  #remember(file: BoardFile): void {
    this.#files.set(file.path, file);
    if (file.kind === 'broken') {
      this.#broken.add(file.path);
    } else {
      this.#pathsById.set(file.task.id, (this.#pathsById.get(file.task.id) ?? new Set()).add(file.path));
    }
  }

  #forget(path: TaskPath): void {
    const file = this.#files.get(path);
    if (!file) {
      return;
    }
    this.#files.delete(path);
    this.#broken.delete(path);
    if (file.kind === 'broken') {
      return;
    }
    const paths = this.#pathsById.get(file.task.id);
    paths?.delete(path);
    if (paths?.size === 0) {
      this.#pathsById.delete(file.task.id);
    }
  }

  #publish(touched: (BoardFile | undefined)[]): void {
    this.#version += 1;
    const ids = touched.map((file) => (file?.kind === 'task' ? file.task.id : file?.lastId));
    for (const id of new Set(ids)) {
      if (id !== undefined) {
        this.#publishTask(id);
      }
    }
  }

  #publishTask(id: string): void {
    const before = this.#shown.get(id);
    const file = this.find(id);
    if (file) {
      this.#known.set(id, { revision: Math.max(file.task.revision, this.knownRevision(id)), hash: file.hash });
    }
    const now = file && !isDeleted(file) ? file : undefined;
    if (before) {
      this.#hide(before);
    }
    if (now) {
      this.#show(now);
      const kind = before ? difference(before, now) : 'created';
      if (kind) {
        this.emit({ taskId: id, kind, task: now.task, location: partsOf(now.path).location });
      }
    } else if (before && !this.brokenFileOf(id)) {
      this.#shown.delete(id);
      this.emit({ taskId: id, kind: 'deleted', location: partsOf(before.path).location });
    }
  }

  #hide({ task, path }: TaskFile): void {
    this.#lists.get(partsOf(path).location)?.delete(task);
    for (const id of businessIdsOf(task)) {
      const ids = this.#claimants.get(id);
      ids?.delete(task.id);
      if (ids?.size === 0) {
        this.#claimants.delete(id);
      }
    }
  }

  #show(file: TaskFile): void {
    this.#shown.set(file.task.id, file);
    this.#lists.get(partsOf(file.path).location)?.add(file.task);
    for (const id of businessIdsOf(file.task)) {
      this.#claimants.set(id, (this.#claimants.get(id) ?? new Set()).add(file.task.id));
    }
  }
}

const isDeleted = (file: TaskFile): boolean => file.task.deletedAt !== undefined;

function isSame(a: BoardFile, b: BoardFile): boolean {
  if (a.kind === 'task') {
    return b.kind === 'task' && a.hash === b.hash;
  }
  return b.kind === 'broken' && a.message === b.message;
}

function difference(before: TaskFile, now: TaskFile): 'moved' | 'updated' | undefined {
  if (partsOf(before.path).location !== partsOf(now.path).location) {
    return 'moved';
  }
  return before.hash === now.hash ? undefined : 'updated';
}

function withLastId(file: BrokenFile, before: BoardFile | undefined): BrokenFile {
  const lastId = before?.kind === 'task' ? before.task.id : before?.lastId;
  return lastId === undefined ? file : { ...file, lastId };
}
