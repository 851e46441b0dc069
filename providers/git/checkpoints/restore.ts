import { join } from 'node:path';
import { move, nestedRepositories } from '../files/preserve-nested';
import { readCommit, replacingIndex, resolveCommit, revealHiddenFiles } from '../files/trees';
import { GitError } from '../git-error';
import { forgetOperations } from '../operation-state';
import { isAncestor } from '../refs/ancestry';
import { assertBranchName, assertObjectName, attemptRef, strayRef } from '../refs/names';
import { setRef } from '../refs/set-ref';
import type { GitRunner } from '../run-git';
import { clearStaleLocks } from '../worktrees/locks';
import { relocateWorktree, verifyStill, type WorktreeLocation } from '../worktrees/worktree-location';
import type { Baseline } from './baseline';

/** Points HEAD and its branch to where they were. */
export async function restoreHead(
  git: GitRunner,
  cwd: string,
  { branch, headSha }: Pick<Baseline, 'branch' | 'headSha'>,
): Promise<void> {
  if (branch === null) {
    await setRef(git, cwd, { ref: 'HEAD', sha: headSha });
    return;
  }
  await git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { cwd });
  await setRef(git, cwd, { ref: `refs/heads/${branch}`, sha: headSha });
}

/**
 * Stores the tip of a branch, unless it was stored with its attempt or is part of the baseline: a commit that was made
 * after the attempt was stored, and before the restore, stays reachable.
 */
async function preserveStray(git: GitRunner, cwd: string, { attemptId, branch, headSha }: Baseline): Promise<void> {
  const tip = branch === null ? undefined : await resolveCommit(git, cwd, `refs/heads/${branch}`);
  if (tip === undefined || tip === headSha || (await isAncestor(git, cwd, { ancestor: tip, descendant: headSha }))) {
    return;
  }
  const preserved = await resolveCommit(git, cwd, attemptRef(attemptId));
  if (preserved !== undefined && (await isAncestor(git, cwd, { ancestor: tip, descendant: preserved }))) {
    return;
  }
  await setRef(git, cwd, { ref: strayRef(attemptId, tip), sha: tip });
}

/** Makes index and files this tree; a damaged index is thrown away, it is rebuilt from the tree. */
export async function checkOut(git: GitRunner, location: WorktreeLocation, tree: string): Promise<void> {
  const { path: cwd } = location;
  await replacingIndex(git, location, async () => {
    verifyStill(location);
    await revealHiddenFiles(git, cwd);
    await git(['read-tree', '--reset', '-u', tree], { cwd });
  });
}

/**
 * Removes files that are not in the baseline. Repositories the agent made inside the worktree hold history that no
 * reference of this one can preserve: they are moved to `set-aside/` in the worktree's git directory.
 */
async function removeUntracked(git: GitRunner, location: WorktreeLocation): Promise<void> {
  const { path: cwd, gitDir } = location;
  verifyStill(location);
  await git(['clean', '-fdq'], { cwd });
  const nested = await nestedRepositories(git, cwd);
  const aside = join(gitDir, 'set-aside', String(Date.now()));
  verifyStill(location);
  for (const repository of nested) {
    git.assertHeld();
    await move(join(cwd, repository), join(aside, repository));
  }
}

/**
 * Restores branch, HEAD, index and worktree to a baseline, whatever an attempt left: another branch, a detached HEAD,
 * an unfinished merge or rebase, locks of killed processes, a removed `.git`. Files that are neither in the baseline nor
 * ignored are removed, so preserve the attempt first (`preserveAttempt`). Can be repeated, also after it was killed halfway.
 *
 * @throws GitError `not-a-repository` unless the path is a worktree linked to a repository; the primary checkout is
 *   never touched
 */
export async function restoreBaseline(
  git: GitRunner,
  { worktreePath, baseline }: { worktreePath: string; baseline: Baseline },
): Promise<WorktreeLocation> {
  if (baseline.branch !== null) {
    assertBranchName(baseline.branch);
  }
  assertObjectName(baseline.headSha);
  const location = await relocateWorktree(git, { worktreePath, gitDir: baseline.gitDir, identity: baseline.identity });
  if (location.gitDir === location.commonDir) {
    throw new GitError('not-a-repository', `${worktreePath} is a primary checkout, not a linked worktree.`);
  }
  const cwd = location.path;
  const snapshot = await readCommit(git, cwd, baseline.snapshot.commit);
  if (!snapshot) {
    throw new GitError('unknown-ref', `The baseline ${baseline.snapshot.commit} is gone.`);
  }

  verifyStill(location);
  await git.verify();
  await clearStaleLocks(location, baseline.branch, git);
  await git.verify();
  await forgetOperations(location.gitDir);
  await preserveStray(git, cwd, baseline);
  await restoreHead(git, cwd, baseline);
  await checkOut(git, location, snapshot.tree);
  await removeUntracked(git, location);
  const index = snapshot.parents[1] ?? snapshot.sha;
  await git(['read-tree', '--reset', `${index}^{tree}`], { cwd });
  // Exit code 1 reports files that differ from the index, which is expected.
  await git(['update-index', '-q', '--refresh'], { cwd, okCodes: [1] });
  return location;
}
