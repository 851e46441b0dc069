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
  { lockWaitMs: olderThanMs, assertHeld }: { lockWaitMs: number; assertHeld: () => void },
): Promise<boolean> {
  // A lock is removed by its path, which must not lead elsewhere.
  verifyRepository({ gitDir, commonDir });
  const locks = [join(gitDir, 'index.lock'), join(gitDir, 'HEAD.lock')];
  if (branch !== null) {
    // A sandbox whose worker was killed has not returned it.
    assertHeld();
    await returnBranch(commonDir, branch);
    locks.push(join(commonDir, 'refs/heads', `${branch}.lock`));
  }
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
