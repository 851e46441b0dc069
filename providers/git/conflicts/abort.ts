import { isDeepStrictEqual } from 'node:util';
import type { Stopped } from '../../../contracts/runs/conflict';
import { checkOut, restoreHead } from '../checkpoints/restore';
import { createSnapshotCommit } from '../files/snapshot-commit';
import { readCommit, resolveCommit, writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import { forgetOperations } from '../operation-state';
import { abortedRef, assertBranchName } from '../refs/names';
import { setRef } from '../refs/set-ref';
import type { GitRunner } from '../run-git';
import { clearStaleLocks } from '../worktrees/locks';
import {
  locateWorktree,
  type RecordedWorktree,
  verifyStill,
  type WorktreeLocation,
} from '../worktrees/worktree-location';
import { readStopped } from './unfinished';

export interface AbortRequest extends RecordedWorktree {
  /** Names the reference to the worktree as it was: `refs/board/aborted/<id>`. The same for every repetition. */
  id: string;
  branch: string;
  stopped: Stopped;
}

/**
 * Aborts a rebase or merge: branch, HEAD, index and tracked files are as before it. The files as they were are stored first,
 * resolutions too. Can be repeated, also after it was killed anywhere.
 *
 * @throws GitError `stale` when the worktree is not as the operation had stopped
 */
export async function abortStopped(git: GitRunner, request: AbortRequest): Promise<{ headSha: string; ref: string }> {
  const { branch, stopped } = request;
  assertBranchName(branch);
  const ref = abortedRef(request.id);
  const location = locateWorktree(git, request);
  const { path: cwd } = location;
  await git.verify();
  await clearStaleLocks(location, branch, git);
  if ((await resolveCommit(git, cwd, ref)) === undefined) {
    await storeFiles(git, location, { ref, branch, stopped });
  }
  verifyStill(location);
  if (stopped.kind === 'rebase') {
    await restoreHead(git, cwd, { branch, headSha: stopped.branchSha });
    await checkOut(git, location, stopped.branchSha);
  } else {
    await resetMerge(git, location, stopped.headSha);
  }
  await git.verify();
  await forgetOperations(location.gitDir);
  return { headSha: stopped.kind === 'rebase' ? stopped.branchSha : stopped.headSha, ref };
}

async function storeFiles(
  git: GitRunner,
  location: WorktreeLocation,
  { ref, branch, stopped }: { ref: string; branch: string; stopped: Stopped },
): Promise<void> {
  const { path: cwd } = location;
  const current = await readStopped(git, location, branch);
  if (!isDeepStrictEqual(current, stopped)) {
    throw new GitError('stale', `What had stopped in ${cwd} has changed; look at its conflicts again.`);
  }
  const [head, tree] = await Promise.all([readCommit(git, cwd, 'HEAD'), writeWorktreeTree(git, location)]);
  const message = `What was there before the ${stopped.kind} was aborted\n`;
  const commit = await createSnapshotCommit(git, cwd, { head, tree, others: [], message });
  await setRef(git, cwd, { ref, sha: commit, expected: null });
}

/** Changes that the merge had nothing to do with stay, where git can distinguish them. */
async function resetMerge(git: GitRunner, location: WorktreeLocation, headSha: string): Promise<void> {
  try {
    await git(['reset', '--quiet', '--merge', headSha], { cwd: location.path });
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'failed') {
      throw error;
    }
    await checkOut(git, location, headSha);
  }
}
