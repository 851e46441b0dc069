import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TaskLocation } from '../../../contracts/tasks/task';
import { errorMessage } from '../../../platform/errors/app-error';
import type { Log } from '../../../platform/log/log';
import { isTaskFileName, locations, type TaskPath, taskPath } from '../format/layout';

export interface TaskFileWatcher {
  /** Whether every folder is watched; it may still miss changes, e.g. those of other hosts on a network share. */
  isComplete(): boolean;
  /** Watches folders again that are not watched or are not the folders they were. */
  renew(): void;
  close(): Promise<void>;
}

export interface TaskFileWatcherOptions {
  dir: string;
  log: Log;
  /** Whether this process is writing the file: what it becomes is known when that is done, and is not to be read before. */
  isBeingWritten: (path: TaskPath) => boolean;
  /** Receives paths that may have changed; must not reject. */
  onChanged: (paths: TaskPath[]) => Promise<void>;
}

/** A save is several events; they are handled together. */
const gatherMs = 20;

/**
 * Reports changed task files. One watch per folder: `node:fs` reports the names of changed files in a folder, where a watch per
 * file would take a second and a kernel object each for 5,000 tasks.
 */
export function createTaskFileWatcher({
  dir,
  log,
  isBeingWritten,
  onChanged,
}: TaskFileWatcherOptions): TaskFileWatcher {
  const watches = new Map<TaskLocation, FSWatcher>();
  const changed = new Set<TaskPath>();
  let batch: Promise<void> | undefined;
  let closed = false;

  async function reportChanges(): Promise<void> {
    while (changed.size > 0 && !closed) {
      await delay(gatherMs);
      const paths = [...changed].filter((path) => !isBeingWritten(path));
      paths.forEach((path) => changed.delete(path));
      await onChanged(paths);
    }
    batch = undefined;
  }

  function watchFolder(location: TaskLocation): void {
    const unwatch = (): void => {
      watches.get(location)?.close();
      watches.delete(location);
    };
    unwatch();
    try {
      const watcher = watch(join(dir, location), { persistent: false }, (event, name) => {
        // A folder that is deleted or moved reports its own name; its replacement is watched by `renew`.
        if (event === 'rename' && name === location) {
          unwatch();
        }
        if (name === null || !isTaskFileName(name)) {
          return;
        }
        changed.add(taskPath(location, name));
        batch ??= reportChanges();
      });
      watcher.on('error', unwatch);
      watches.set(location, watcher);
    } catch (error) {
      log.warn({ folder: location, error: errorMessage(error) }, 'board folder watch failed; scanning instead');
    }
  }

  return {
    isComplete: () => locations.every((location) => watches.has(location)),
    renew: () => {
      for (const location of locations) {
        if (!watches.has(location)) {
          watchFolder(location);
        }
      }
    },
    close: async () => {
      closed = true;
      for (const watcher of watches.values()) {
        watcher.close();
      }
      watches.clear();
      await batch;
    },
  };
}
