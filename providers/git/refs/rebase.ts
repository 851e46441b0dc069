import { findByEnvironment } from '../../../platform/processes/identity';
import { endProcess } from '../../../platform/processes/kill-process-group';
import { checkOut, restoreHead } from '../checkpoints/restore';
import { readCommit, resolveCommit } from '../files/trees';
import { GitError, listedPaths } from '../git-error';
import { forgetOperations, rebasedHead, unfinishedOperation } from '../operation-state';
import { gitFields, type GitRunner } from '../run-git';
import type { WorktreeStatus } from '../status';
import { honestStatus } from '../worktrees/evidence';
import { clearStaleLocks } from '../worktrees/locks';
import type { Rebased, RebaseRequest } from '../worktrees/worktree-git';
import { locateWorktree, verifyStill, type WorktreeLocation } from '../worktrees/worktree-location';
import { isAncestor } from './ancestry';
import { assertBranchName, assertObjectName, rebasedRef } from './names';
import { setRef } from './set-ref';

/** Marks git processes of a rebase, so that one whose worker died is found. */
const operationVariable = 'BOARD_GIT_OPERATION';

/** Many commits, or large ones, take their time. */
const rebaseTimeoutMs = 10 * 60_000;

/** Settings of a repository that would make a rebase do something else, or more. */
const plainRebase = [
  'rebase.autoStash=false',
  'rebase.autoSquash=false',
  'rebase.updateRefs=false',
  'rebase.rebaseMerges=false',
  'rebase.missingCommitsCheck=ignore',
  'rebase.stat=false',
  'rerere.enabled=false',
];

/**
 * Resets a worktree that was clean to a commit of its branch. The mark of the unfinished rebase is removed last: killed
 * before that, the next call finds it and does it again.
 */
async function putBack(
  git: GitRunner,
  location: WorktreeLocation,
  { branch, headSha }: { branch: string; headSha: string },
): Promise<void> {
  const { path: cwd } = location;
  verifyStill(location);
  await git.verify();
  await clearStaleLocks(location, branch, git);
  await restoreHead(git, cwd, { branch, headSha });
  await checkOut(git, location, headSha);
  verifyStill(location);
  await git(['clean', '-fdq'], { cwd });
  await git.verify();
  await forgetOperations(location.gitDir);
}

async function conflictingPaths(git: GitRunner, cwd: string): Promise<string[]> {
  const records = await gitFields(git, ['ls-files', '--unmerged', '-z'], { cwd });
  return [...new Set(records.map((record) => record.slice(record.indexOf('\t') + 1)))];
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

/** Runs git's rebase; when that does not go through, everything is as before. */
async function runRebase(
  git: GitRunner,
  location: WorktreeLocation,
  { branch, headSha, ontoSha, ref }: { branch: string; headSha: string; ontoSha: string; ref: string },
): Promise<void> {
  const { path: cwd } = location;
  const env = { [operationVariable]: ref };
  try {
    await git(['rebase', '--quiet', '--merge', '--no-fork-point', ontoSha], {
      cwd,
      env,
      config: plainRebase,
      timeoutMs: rebaseTimeoutMs,
    });
  } catch (error) {
    if (!(error instanceof GitError)) {
      throw error;
    }
    const paths = await conflictingPaths(git, cwd);
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
  const { branch, ontoSha, id } = request;
  assertBranchName(branch);
  assertObjectName(ontoSha);
  const backupRef = rebasedRef(id);
  const location = locateWorktree(git, request);
  const { path: cwd, gitDir, commonDir } = location;
  if (gitDir === commonDir) {
    throw new GitError('outside', `${cwd} is a primary checkout.`);
  }

  await git.verify();
  await endProcess(await findByEnvironment(operationVariable, backupRef), { graceMs: 0 });
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
  verifyStill(location);
  await setRef(git, cwd, { ref: backupRef, sha: headSha, expected: backup ?? null });
  await runRebase(git, location, { branch, headSha, ontoSha, ref: backupRef });
  const head = await readCommit(git, cwd, 'HEAD');
  if (!head) {
    throw new GitError('failed', `${cwd} has no commit after its rebase.`);
  }
  return { headSha: head.sha, previousHeadSha: headSha, rebased: true, backupRef };
}
