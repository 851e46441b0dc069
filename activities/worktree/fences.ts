import { join } from 'node:path';
import type { ProcessIdentity } from '../../platform/processes/identity';
import { newestSequence, takeSequenceLock } from '../../platform/processes/sequence-lock';
import { endEarlierHolders, type Fence } from '../../providers/git/fence';
import type { FenceHolder, WorktreeStore } from '../../stores/runs/workspaces/worktree-store';
import { workSuffix } from './removed-locks';

/** Hands out the tokens under which worktrees of this host are changed. */
export interface WorktreeFences {
  /**
   * Takes a worktree: the stores hand out a token, its lock is taken on the disk, and whatever earlier holders have started
   * that still works on it is ended. From then on every one of them is refused, however late it wakes.
   *
   * @returns `undefined` when the worktree is not, or no more, the holder's
   */
  take(taskId: string, holder: FenceHolder): Promise<Fence | undefined>;
  /**
   * Works in the worktree beside the agent of the attempt that has it, under the token of that: once another attempt takes the
   * worktree, or the same work is tried again, this one is refused.
   *
   * @param work names it, and counts how often it was tried
   * @returns `undefined` when the attempt does not have the worktree, or a later try is at work
   */
  share(taskId: string, attemptId: string, work: { id: string; tries: number }): Promise<Fence | undefined>;
}

/** How often a token is requested while others take the worktree. */
const tries = 20;

/**
 * @param options.dir directory of the locks, one directory for each worktree; on the disk of this host, and no agent's
 * @param options.self this worker, for a person who inspects a lock
 */
export function createWorktreeFences({
  worktrees,
  dir,
  self,
}: {
  worktrees: Pick<WorktreeStore, 'get' | 'handOut' | 'isLast'>;
  dir: string;
  self: ProcessIdentity;
}): WorktreeFences {
  return {
    async take(taskId, holder) {
      const lockDir = join(dir, taskId);
      for (let attempt = 1; attempt <= tries; attempt += 1) {
        // Stores that were restored from a backup may have handed out less than what is on the disk.
        const above = attempt === 1 ? 0 : newestSequence(lockDir);
        const sequence = await worktrees.handOut(taskId, holder, above);
        if (sequence === undefined) {
          return undefined;
        }
        const lock = { dir: lockDir, sequence };
        if (!takeSequenceLock(lock, { taskId, holder, supervisor: self })) {
          continue;
        }
        await endEarlierHolders(lock);
        return { locks: [lock], holds: () => worktrees.isLast(taskId, holder, sequence) };
      }
      throw new Error(`Other writers kept acquiring the worktree of ${taskId}. Try again.`);
    },

    async share(taskId, attemptId, work) {
      const { fence } = (await worktrees.get(taskId)) ?? {};
      const own = { dir: join(dir, taskId + workSuffix, work.id), sequence: work.tries };
      if (fence?.holder !== attemptId || !takeSequenceLock(own, { taskId, attemptId, supervisor: self })) {
        return undefined;
      }
      await endEarlierHolders(own);
      const { sequence } = fence;
      const holds = () => worktrees.isLast(taskId, { attemptId, stage: 'run' }, sequence);
      return { locks: [own, { dir: join(dir, taskId), sequence }], holds };
    },
  };
}
