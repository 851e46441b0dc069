import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { returnBranch } from '../../sandbox/lent-branch';
import { verifyRepository } from '../repository/verify-repository';
import type { WorktreeLocation } from './worktree-location';

const mtimeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/**
 * Removes locks of a worktree and its branch that a killed git has left behind. Call it only while no process is meant to
 * work in the worktree: a lock younger than `olderThanMs` may belong to a git of a worker that was killed, which still
 * finishes what it does, and is waited for.
 *
 * @returns whether there were any: then the worktree may have changed meanwhile
 */
export async function clearStaleLocks(
  { gitDir, commonDir }: WorktreeLocation,
  branch: string | null,
  { lockWaitMs: olderThanMs, assertHeld }: LockHolder,
): Promise<boolean> {
  // A lock is removed by its path, which must not lead elsewhere.
  verifyRepository({ gitDir, commonDir });
  const holder = { lockWaitMs: olderThanMs, assertHeld };
  const found = await clearLocks([join(gitDir, 'index.lock'), join(gitDir, 'HEAD.lock')], holder);
  return branch === null ? found : (await clearBranchLock(commonDir, branch, holder)) || found;
}

interface LockHolder {
  lockWaitMs: number;
  assertHeld: () => void;
}

/** The same for the branch alone, whose worktree may be gone. */
export async function clearBranchLock(commonDir: string, branch: string, holder: LockHolder): Promise<boolean> {
  verifyRepository({ gitDir: commonDir, commonDir });
  // A sandbox whose worker was killed has not returned it.
  holder.assertHeld();
  await returnBranch(commonDir, branch);
  return clearLocks([join(commonDir, 'refs/heads', `${branch}.lock`)], holder);
}

async function clearLocks(
  locks: readonly string[],
  { lockWaitMs: olderThanMs, assertHeld }: LockHolder,
): Promise<boolean> {
  let found = false;
  for (const lock of locks) {
    for (let mtime = await mtimeOf(lock); mtime !== undefined; mtime = await mtimeOf(lock)) {
      found = true;
      if (Date.now() - mtime >= olderThanMs) {
        assertHeld();
        await rm(lock, { force: true });
      } else {
        await delay(20);
      }
    }
  }
  return found;
}
