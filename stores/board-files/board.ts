import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { BoardDiagnostic } from '../../contracts/tasks/task';
import { errorMessage } from '../../platform/errors/app-error';
import { operationTime } from '../../platform/operations/operation';
import { brokenFileError } from './board-file';
import { finishRemovals } from './finish-removals';
import { createFollower, type Follower } from './following/follower';
import { startRescan } from './following/rescan';
import { createTaskFileWatcher } from './following/watcher';
import { sweepTemporaryFiles } from './format/durable-file';
import { eachLimited } from './format/each-limited';
import { duplicateDiagnostics } from './format/identity';
import { locations, partsOf, progressFolder, type TaskPath } from './format/layout';
import { RecentSources } from './format/recent-sources';
import { isTaskId } from './format/task-id';
import { sweepIdentityNotes } from './identity-claims';
import { selectTasks } from './index/query';
import { TaskIndex } from './index/task-index';
import { createMutations } from './mutations';
import { createProgressFiles } from './progress-files';
import { createTaskLocks } from './task-locks';
import type { Board, BoardChange, BoardOptions, BoardTask } from './types';

export type { Board, BoardChange, BoardOptions, BoardTask, TaskChange, Writer } from './types';

const looksAtOnce = 16;

/**
 * Opens a board directory, reads every task and follows the files from then on.
 *
 * @throws Error when the directory cannot be made, read or watched
 */
export async function createBoard({
  dir: directory,
  log,
  clock = operationTime,
  rescanMs = 1_000,
}: BoardOptions): Promise<Board> {
  const dir = await prepareFolders(directory);
  const listeners = new Set<(change: BoardChange) => void>();
  const index = new TaskIndex((change) => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        log.error({ taskId: change.taskId, error: errorMessage(error) }, 'board change listener failed');
      }
    }
  });
  const locks = createTaskLocks(dir, log);
  const writing = new Set<TaskPath>();
  const deps = { dir, index, locks, log, recent: new RecentSources(), writing, clock };
  const follower = createFollower(deps);
  const observeAll = (paths: Parameters<Follower['observe']>[0][]): Promise<void> =>
    eachLimited(looksAtOnce, paths, (path) => follower.observe(path)).catch((error: unknown) =>
      log.warn({ error: errorMessage(error) }, 'changed board file read failed'),
    );
  const watcher = createTaskFileWatcher({
    dir,
    log,
    isBeingWritten: (path) => writing.has(path),
    onChanged: observeAll,
  });
  // Watching comes first, so that nothing changes unseen between reading and watching.
  watcher.renew();
  await follower.discover();
  await finishRemovals(deps);
  const rescan = startRescan({ dir, index, follower, watcher, log, everyMs: rescanMs });
  let diagnostics: { version: number; list: BoardDiagnostic[] } | undefined;

  const find = (id: string) => freshTask(id, { dir, index, follower });

  return {
    ...createMutations({ ...deps, follower }),
    progress: createProgressFiles({ ...deps, follower, find }),
    exclusive: (name, work) => locks.exclusive(name, work),
    get: find,
    list: (query, location = 'active') => selectTasks(index.tasksIn(location), query),
    inArchive: () => index.tasksAt('archive'),
    counts: () => countTasks(index),
    diagnostics: () => {
      if (diagnostics?.version !== index.version) {
        diagnostics = { version: index.version, list: diagnose(index) };
      }
      return diagnostics.list;
    },
    get version() {
      return index.version;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      await Promise.all([rescan.close(), watcher.close()]);
      await locks.idle();
    },
  };
}

/** Makes what is missing. Folders that lead elsewhere are refused: writes would escape the board directory. */
async function prepareFolders(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const dir = await realpath(directory);
  for (const name of [...locations, progressFolder]) {
    const folder = join(dir, name);
    await mkdir(folder, { recursive: true });
    if (!(await lstat(folder)).isDirectory()) {
      throw new Error(`The board folder ${folder} is not a directory.`);
    }
    await sweepTemporaryFiles(folder);
  }
  await sweepIdentityNotes(dir);
  return dir;
}

async function freshTask(
  id: string,
  { dir, index, follower }: { dir: string; index: TaskIndex; follower: Follower },
): Promise<BoardTask | undefined> {
  if (!isTaskId(id)) {
    return undefined;
  }
  const broken = index.brokenFileOf(id);
  for (const path of [...index.pathsOf(id), ...(broken ? [broken.path] : [])]) {
    if (!follower.isUnchanged(path)) {
      await follower.observe(path);
    }
  }
  // Not indexed, or moved: another process may have made or moved it just now.
  if (!index.find(id)) {
    await follower.discover();
  }
  const file = index.find(id);
  if (file) {
    if (file.task.deletedAt !== undefined) {
      return undefined;
    }
    return { task: file.task, location: partsOf(file.path).location, path: join(dir, file.path) };
  }
  const stillBroken = index.brokenFileOf(id);
  if (stillBroken) {
    throw brokenFileError(id, stillBroken);
  }
  return undefined;
}

const defaultCounts = { backlog: 0, todo: 0, 'in-progress': 0, blocked: 0, done: 0, archived: 0 };

function countTasks(index: TaskIndex): Record<string, number> {
  const counts: Record<string, number> = {
    ...defaultCounts,
    backlog: index.tasksIn('backlog').length,
    archived: index.tasksIn('archive').length,
  };
  for (const { status } of index.tasksIn('active')) {
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

function diagnose(index: TaskIndex): BoardDiagnostic[] {
  const broken = index
    .brokenFiles()
    .map(({ path, code, message }) => ({ location: partsOf(path).location, path, code, message }));
  return [...broken, ...duplicateDiagnostics(index)];
}
