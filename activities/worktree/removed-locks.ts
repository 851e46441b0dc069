import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeSequenceLock } from '../../platform/processes/sequence-lock';
import type { WorktreeStore } from '../../stores/runs/workspaces/worktree-store';

/** The locks of work beside an agent are in a directory of their own: `<taskId>.work`. */
export const workSuffix = '.work';

/**
 * Removes the locks of worktrees that were removed, or that the stores do not have: the stores refuse every former holder. A
 * worktree that is made again continues above the sequence of its manifest.
 *
 * @param dir where this host has the locks of its worktrees
 * @returns the number of locks that were removed
 */
export async function removeLocksOfRemoved(dir: string, worktrees: Pick<WorktreeStore, 'get'>): Promise<number> {
  let removed = 0;
  for (const name of namesIn(dir)) {
    const taskId = name.endsWith(workSuffix) ? name.slice(0, -workSuffix.length) : name;
    const isUnused = async (): Promise<boolean> => {
      const record = await worktrees.get(taskId);
      return record === undefined || (record.state === 'removed' && record.operation === null);
    };
    if (await removeSequenceLock(join(dir, name), isUnused)) {
      removed += 1;
    }
  }
  return removed;
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return [];
    }
    throw error;
  }
}
