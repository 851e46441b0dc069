/** What runs that were killed have left in the cache. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The directory of this run, by the name that `removeStale` reads. */
export const runDirectory = (cache) => join(cache, `mutation-workflows-${process.pid}`);

/** Removes the directories of runs whose process is gone. */
export function removeStale(cache) {
  for (const name of namesIn(cache)) {
    const pid = /^mutation-workflows-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) {
      rmSync(join(cache, name), { recursive: true, force: true });
    }
  }
}

function namesIn(directory) {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (error.code === 'ENOENT') {
      return [];
    }
    throw error;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}
