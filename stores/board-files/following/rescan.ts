import { join } from 'node:path';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../platform/errors/app-error';
import type { Log } from '../../../platform/log/log';
import { sweepTemporaryFiles } from '../format/durable-file';
import { eachLimited } from '../format/each-limited';
import { locations, type TaskPath } from '../format/layout';
import { sweepIdentityNotes } from '../identity-claims';
import type { TaskIndex } from '../index/task-index';
import type { Follower } from './follower';
import type { TaskFileWatcher } from './watcher';

export interface Rescan {
  close(): Promise<void>;
}

export interface RescanDeps {
  dir: string;
  index: TaskIndex;
  follower: Follower;
  watcher: TaskFileWatcher;
  log: Log;
  everyMs: number;
}

/** While the watcher works, all indexed files are checked once in this many rounds. */
const roundsPerPass = 5;
const looksAtOnce = 16;
const sweepEveryRounds = 60;

/**
 * The fallback of the watcher: new and missing files are detected every round, changed ones within five rounds, or every round
 * while a folder cannot be watched. A round costs a `stat` per file it checks.
 */
export function startRescan({ dir, index, follower, watcher, log, everyMs }: RescanDeps): Rescan {
  const stop = new AbortController();
  const stopped = (): boolean => stop.signal.aborted;
  let queue: TaskPath[] = [];
  let rounds = 0;

  async function round(): Promise<void> {
    watcher.renew();
    await follower.discover();
    if (queue.length === 0) {
      queue = index.paths();
    }
    const share = watcher.isComplete() ? Math.ceil(index.paths().length / roundsPerPass) : queue.length;
    await eachLimited(looksAtOnce, queue.splice(0, share), async (path) => {
      // Requests have their turn between two files.
      await setImmediate();
      await follower.observe(path);
    });
    rounds += 1;
    if (rounds % sweepEveryRounds === 0) {
      for (const location of locations) {
        await sweepTemporaryFiles(join(dir, location));
      }
      await sweepIdentityNotes(dir);
    }
  }

  async function run(): Promise<void> {
    while (!stopped()) {
      await delay(everyMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stopped()) {
        return;
      }
      await round().catch((error: unknown) => log.warn({ error: errorMessage(error) }, 'board file scan failed'));
    }
  }

  const running = run();
  return {
    close: async () => {
      stop.abort();
      await running;
    },
  };
}
