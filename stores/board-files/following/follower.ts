import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import type { Log } from '../../../platform/log/log';
import { interpret, type TaskFile } from '../board-file';
import { eachLimited } from '../format/each-limited';
import type { FrontMatter } from '../format/front-matter';
import { stampHandEdit } from '../format/hand-edit';
import { isTaskFileName, locations, nameSuggests, partsOf, type TaskPath, taskPath } from '../format/layout';
import { fingerprintOf, isMissing, readTaskFile, statNow, statOf } from '../format/read-task-file';
import type { RecentSources } from '../format/recent-sources';
import type { TaskIndex } from '../index/task-index';
import type { HeldLock, TaskLocks } from '../task-locks';

export interface FollowerDeps {
  dir: string;
  index: TaskIndex;
  locks: TaskLocks;
  log: Log;
  /** What this process has written last. */
  recent: RecentSources;
  /** The files that this process is writing, until the index has them. */
  writing: Set<TaskPath>;
  clock: () => Date;
}

/** A task read under its lock, with what a write needs. */
export interface LoadedTask {
  file: TaskFile;
  source: FrontMatter;
}

/** Updates the index from the files, whichever process or editor changes them. */
export interface Follower {
  /** Whether the file of the index is what is at the path; costs one `stat`. */
  isUnchanged(path: TaskPath): boolean;
  /** Compares one path with the index, and reads what has changed. */
  observe(path: TaskPath): Promise<void>;
  /** Finds files that came or went; costs one `stat` per folder when none did. */
  discover(): Promise<void>;
  /** Reads every file of a task again, under its lock. `undefined` unless exactly one file holds the task. */
  reread(id: string, held: HeldLock, hint?: TaskPath): Promise<LoadedTask | undefined>;
}

/** Enough to keep the disk busy; each one costs a file handle. */
const readsAtOnce = 32;

/** How long a file may be missing or cut short in the middle of being saved. */
const saveGapMs = 50;

export function createFollower(deps: FollowerDeps): Follower {
  const { dir, index, locks, log, recent } = deps;
  /** The state of each folder whose every name has been read. */
  const discovered = new Map<string, string>();

  function isUnchanged(path: TaskPath): boolean {
    const indexed = index.fileAt(path);
    const stats = indexed && !indexed.fresh ? statNow(join(dir, path)) : undefined;
    return stats !== undefined && fingerprintOf(stats).signature === indexed?.signature;
  }

  async function observe(path: TaskPath): Promise<void> {
    for (;;) {
      if (isUnchanged(path)) {
        return;
      }
      const indexed = index.fileAt(path);
      const state = await readTaskFile(join(dir, path));
      // A write of this process came between: what was read may be older than the index.
      if (index.fileAt(path) !== indexed) {
        continue;
      }
      if (state.kind === 'missing') {
        if (indexed?.kind === 'task') {
          await reconcile(indexed.task.id);
        } else {
          index.drop(path);
        }
        return;
      }
      if (indexed?.kind === 'task' && state.kind === 'text' && state.hash === indexed.hash) {
        index.put({ ...indexed, signature: state.signature, fresh: state.fresh });
        return;
      }
      const { file } = interpret(path, state, recent);
      if (file.kind === 'broken' && indexed?.kind === 'task' && state.fresh) {
        // Most likely half of a save: a file is only called broken once it has come to rest.
        await delay(saveGapMs);
        continue;
      }
      if (file.kind === 'broken' || !needsLock(file)) {
        index.put(file);
      } else {
        await reconcile(file.task.id, path);
      }
      return;
    }
  }

  /**
   * A hand edit is written back, a second file with the same id may be one that just moved, and an indexed task that this
   * process is writing may be between its new content and its new folder.
   */
  function needsLock(file: TaskFile): boolean {
    const indexed = index.pathsOf(file.task.id);
    return (
      index.isHandEdit(file) ||
      indexed.some((path) => path !== file.path) ||
      (indexed.length > 0 && locks.isLocked(file.task.id))
    );
  }

  async function reconcile(id: string, hint?: TaskPath): Promise<void> {
    try {
      await locks.exclusive(id, (held) => reread(id, held, hint));
    } catch (error) {
      // The index stays as it is: the next read of the file tries again.
      log.warn({ taskId: id, error: errorMessage(error) }, 'task file import deferred');
    }
  }

  async function reread(id: string, held: HeldLock, hint?: TaskPath): Promise<LoadedTask | undefined> {
    const gone: TaskPath[] = [];
    const claims: LoadedTask[] = [];
    const read = async (path: TaskPath): Promise<void> => {
      const unchanged = unchangedTask(path, id);
      if (unchanged) {
        return void claims.push(unchanged);
      }
      const state = await readTaskFile(join(dir, path));
      if (state.kind === 'missing') {
        return void gone.push(path);
      }
      const { file, source } = interpret(path, state, recent);
      if (file.kind === 'task' && source && file.task.id === id) {
        claims.push({ file, source });
      } else if (index.fileAt(path)) {
        index.put(file);
      }
    };
    const paths = new Set(index.pathsOf(id));
    const broken = index.brokenFileOf(id);
    for (const path of [hint, broken?.path]) {
      if (path) {
        paths.add(path);
      }
    }
    for (const path of paths) {
      await read(path);
    }
    if (claims.length === 0 && paths.size > 0) {
      // Some editors move the old file away before they write the new one.
      await delay(saveGapMs);
      for (const path of gone.splice(0)) {
        await read(path);
      }
    }
    if (claims.length === 0) {
      const unknown = await unknownPaths(id);
      // A file that the watcher has indexed while the folders were listed is not unknown any more.
      for (const path of new Set([...unknown, ...index.pathsOf(id)])) {
        if (!paths.has(path)) {
          await read(path);
        }
      }
    }
    const current = await stampedOrAsIs(claims, held);
    for (const { file } of current) {
      index.put(file);
    }
    for (const path of gone) {
      index.drop(path);
    }
    return current.length === 1 ? current[0] : undefined;
  }

  /** A task that this process has written last, by the times of its file alone. */
  function unchangedTask(path: TaskPath, id: string): LoadedTask | undefined {
    const file = index.fileAt(path);
    if (file?.kind !== 'task' || file.task.id !== id || file.fresh) {
      return undefined;
    }
    const source = recent.get(file.hash)?.source;
    if (!source) {
      return undefined;
    }
    const stats = statNow(join(dir, path));
    return stats && fingerprintOf(stats).signature === file.signature ? { file, source } : undefined;
  }

  async function stampedOrAsIs(claims: LoadedTask[], held: HeldLock): Promise<LoadedTask[]> {
    const [sole, another] = claims;
    // Which of several files is the task is a person's decision; none of them is written.
    if (!sole || another || !index.isHandEdit(sole.file)) {
      return claims;
    }
    const stamped = await stampHandEdit(deps, sole, held);
    return stamped ? [stamped] : [];
  }

  /** Files the index does not know: those named after the task, or all when there are none. */
  async function unknownPaths(id: string): Promise<TaskPath[]> {
    const unknown = (await Promise.all(locations.map(listFolder))).flat().filter((path) => !index.fileAt(path));
    const candidates = unknown.filter((path) => nameSuggests(partsOf(path).name, id));
    return candidates.length > 0 ? candidates : unknown;
  }

  async function listFolder(location: (typeof locations)[number]): Promise<TaskPath[]> {
    try {
      const names = await readdir(join(dir, location));
      return names.filter(isTaskFileName).map((name) => taskPath(location, name));
    } catch (error) {
      if (isMissing(error)) {
        return [];
      }
      throw error;
    }
  }

  async function discoverIn(location: (typeof locations)[number]): Promise<void> {
    const stats = await statOf(join(dir, location));
    const fingerprint = stats && fingerprintOf(stats);
    if (fingerprint && discovered.get(location) === fingerprint.signature) {
      return;
    }
    const listed = new Set(await listFolder(location));
    const added = [...listed].filter((path) => !index.fileAt(path));
    const gone = index.paths().filter((path) => partsOf(path).location === location && !listed.has(path));
    await eachLimited(readsAtOnce, [...added, ...gone], observe);
    if (fingerprint && !fingerprint.fresh) {
      discovered.set(location, fingerprint.signature);
    }
  }

  return {
    isUnchanged,
    observe,
    reread,
    discover: async () => {
      for (const location of locations) {
        await discoverIn(location);
      }
    },
  };
}
