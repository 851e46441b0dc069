import { maxRemaining } from '../conflicts/unfinished';
import { readCommit, resolveCommit } from '../files/trees';
import { GitError, listedPaths } from '../git-error';
import { rebasedHead, unfinishedOperation } from '../operation-state';
import { type GitRunner, gitText } from '../run-git';
import type { WorktreeStatus } from '../status';
import { honestStatus } from '../worktrees/evidence';
import type { Rebased, RebaseRequest } from '../worktrees/worktree-git';
import { locateWorktree, verifyStill, type WorktreeLocation } from '../worktrees/worktree-location';
import { isAncestor } from './ancestry';
import { assertBranchName, assertObjectName, rebasedRef } from './names';
import { conflictingPaths, endRebases, putBack, runRebase } from './run-rebase';
import { setRef } from './set-ref';

interface Attempted {
  branch: string;
  headSha: string;
  ontoSha: string;
  ref: string;
  keep: boolean;
}

/** Whether the rebase that is unfinished is this one; one that wrote down nothing yet has done nothing yet. */
async function isOurs({ gitDir }: WorktreeLocation, backup: string): Promise<boolean> {
  if (unfinishedOperation(gitDir) !== 'rebase') {
    return false;
  }
  return ((await rebasedHead(gitDir)) ?? backup) === backup;
}

async function refuseUnready(
  { path, gitDir }: WorktreeLocation,
  status: WorktreeStatus,
  branch: string,
): Promise<void> {
  const operation = unfinishedOperation(gitDir);
  if (operation !== undefined) {
    throw new GitError('conflict', `${path} has an unfinished ${operation}.`);
  }
  if (status.branch !== branch) {
    throw new GitError('mismatch', `${path} is on ${status.branch ?? 'a detached HEAD'}, not on ${branch}.`);
  }
}

function refuseDirty(path: string, { entries }: WorktreeStatus): void {
  if (entries.length === 0) {
    return;
  }
  const paths = entries.slice(0, listedPaths).map((entry) => entry.path);
  throw new GitError('dirty', `${path} has ${entries.length} changed or untracked files.`, paths);
}

/** Asserts that a rebase which stops could be continued. @throws GitError `conflict` */
async function refuseTooMany(
  git: GitRunner,
  cwd: string,
  { branch, ontoSha }: { branch: string; ontoSha: string },
): Promise<void> {
  const count = Number(await gitText(git, ['rev-list', '--count', 'HEAD', '--not', ontoSha], { cwd }));
  if (count > maxRemaining) {
    const most = `of at most ${maxRemaining} whose conflicts can be kept; rebase it without onConflict`;
    throw new GitError('conflict', `${branch} has ${count} commits, ${most}.`);
  }
}

/**
 * Runs git's rebase; when that does not go through, everything is as before, unless conflicts are kept.
 *
 * @returns the files in conflict that are kept
 */
async function rebaseBranch(
  git: GitRunner,
  location: WorktreeLocation,
  { branch, headSha, ontoSha, ref, keep }: Attempted,
): Promise<string[]> {
  const { path: cwd } = location;
  try {
    await runRebase(git, cwd, { ref, range: [ontoSha] });
    return [];
  } catch (error) {
    if (!(error instanceof GitError)) {
      throw error;
    }
    const paths = await conflictingPaths(git, cwd);
    if (keep && error.code === 'failed' && paths.length > 0) {
      return paths.slice(0, listedPaths);
    }
    await putBack(git, location, { branch, headSha });
    await git(['update-ref', '--no-deref', '-d', ref, headSha], { cwd });
    if (paths.length === 0) {
      throw error;
    }
    const message = `${branch} cannot be rebased onto ${ontoSha}: ${paths.length} files conflict.`;
    throw new GitError('merge-conflict', message, paths.slice(0, listedPaths));
  }
}

/** See `WorktreeGit.rebaseOnto`. */
export async function rebaseOnto(git: GitRunner, request: RebaseRequest): Promise<Rebased> {
  const { branch, ontoSha, id, keepConflict: keep = false } = request;
  assertBranchName(branch);
  assertObjectName(ontoSha);
  const backupRef = rebasedRef(id);
  const location = locateWorktree(git, request);
  const { path: cwd, gitDir, commonDir } = location;
  if (gitDir === commonDir) {
    throw new GitError('outside', `${cwd} is a primary checkout.`);
  }

  await git.verify();
  await endRebases(backupRef);
  const backup = await resolveCommit(git, cwd, backupRef);
  if (backup !== undefined && (await isOurs(location, backup))) {
    await putBack(git, location, { branch, headSha: backup });
  }
  const status = await honestStatus(git, location);
  await refuseUnready(location, status, branch);
  const { headSha } = status;
  const contained = await isAncestor(git, cwd, { ancestor: ontoSha, descendant: headSha });
  if (backup !== undefined && backup !== headSha) {
    if (!contained) {
      throw new GitError('stale', `${branch} has moved from ${backup} to ${headSha}.`);
    }
    return { headSha, previousHeadSha: backup, rebased: true, backupRef };
  }
  if (contained) {
    return { headSha, previousHeadSha: headSha, rebased: false, backupRef };
  }
  refuseDirty(cwd, status);
  if (keep) {
    await refuseTooMany(git, cwd, { branch, ontoSha });
  }
  verifyStill(location);
  await setRef(git, cwd, { ref: backupRef, sha: headSha, expected: backup ?? null });
  const conflicts = await rebaseBranch(git, location, { branch, headSha, ontoSha, ref: backupRef, keep });
  if (conflicts.length > 0) {
    return { headSha, previousHeadSha: headSha, rebased: false, backupRef, conflicts };
  }
  const head = await readCommit(git, cwd, 'HEAD');
  if (!head) {
    throw new GitError('failed', `${cwd} has no commit after its rebase.`);
  }
  return { headSha: head.sha, previousHeadSha: headSha, rebased: true, backupRef };
}
