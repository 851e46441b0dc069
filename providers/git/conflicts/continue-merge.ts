import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { StoppedMerge } from '../../../contracts/runs/conflict';
import { resolveCommit, writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import { forgetOperations } from '../operation-state';
import { assertBranchName, continuedRef } from '../refs/names';
import { setRef } from '../refs/set-ref';
import { type GitRunner, gitText } from '../run-git';
import { readSmallFile } from '../settings/repository-settings';
import { readStatus } from '../status';
import { clearStaleLocks } from '../worktrees/locks';
import {
  locateWorktree,
  type RecordedWorktree,
  verifyStill,
  type WorktreeLocation,
} from '../worktrees/worktree-location';
import type { Continued } from './continue-rebase';
import { refuseUnresolved } from './resolve';
import { readStopped } from './unfinished';

export interface ContinueMergeRequest extends RecordedWorktree {
  /** Names the reference to the merge: `refs/board/continued/<id>`. The same for every repetition. */
  id: string;
  branch: string;
  stopped: StoppedMerge;
  /** The message of the merge; git's own when absent. */
  message?: string | undefined;
  author: { name: string; email: string };
}

/**
 * Commits a merge that was resolved, with everything that is in the worktree. Can be repeated, also after it was killed anywhere.
 *
 * @throws GitError `merge-conflict` while files are in conflict, `stale` when the worktree is not as the merge had stopped
 */
export async function continueMerge(git: GitRunner, request: ContinueMergeRequest): Promise<Continued> {
  const { branch, stopped } = request;
  assertBranchName(branch);
  const location = locateWorktree(git, request);
  const { path: cwd } = location;
  await git.verify();
  await clearStaleLocks(location, branch, git);
  const sha = (await resolveCommit(git, cwd, continuedRef(request.id))) ?? (await commitMerge(git, location, request));
  const tip = await resolveCommit(git, cwd, `refs/heads/${branch}`);
  if (tip !== sha) {
    verifyStill(location);
    await setRef(git, cwd, { ref: `refs/heads/${branch}`, sha, expected: stopped.headSha });
  }
  await git(['read-tree', '--reset', sha], { cwd });
  // Exit code 1 reports files that were changed meanwhile: they stay as they are.
  await git(['update-index', '-q', '--refresh'], { cwd, okCodes: [1] });
  await git.verify();
  await forgetOperations(location.gitDir);
  return { ended: 'done', headSha: sha, paths: [] };
}

async function commitMerge(
  git: GitRunner,
  location: WorktreeLocation,
  { id, branch, stopped, message, author }: ContinueMergeRequest,
): Promise<string> {
  const { path: cwd } = location;
  const current = await readStopped(git, location, branch);
  if (current?.kind !== 'merge' || !isDeepStrictEqual(current, stopped)) {
    throw new GitError('stale', `The merge in ${cwd} is not as it had stopped; look at its conflicts again.`);
  }
  const status = await readStatus(git, cwd);
  if (status.branch !== branch) {
    throw new GitError('mismatch', `${cwd} is on ${status.branch ?? 'a detached HEAD'}, not on ${branch}.`);
  }
  await refuseUnresolved(git, location);
  const tree = await writeWorktreeTree(git, location);
  const parents = [stopped.headSha, ...stopped.heads].flatMap((sha) => ['-p', sha]);
  const sha = await gitText(git, ['commit-tree', tree, ...parents, '-F', '-'], {
    cwd,
    input: messageOf(location, { message, branch }),
    env: { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email },
  });
  await setRef(git, cwd, { ref: continuedRef(id), sha, expected: null });
  return sha;
}

/** The longest message of git's that is taken, in characters. */
const maxMessage = 20_000;

/** The message of a merge: the one that was given, else the one that git has prepared without its comments. */
function messageOf(
  { gitDir }: WorktreeLocation,
  { message, branch }: { message: string | undefined; branch: string },
): string {
  const prepared = readSmallFile(join(gitDir, 'MERGE_MSG'))
    .slice(0, maxMessage)
    .replace(/^#.*\n?/gm, '');
  return `${(message ?? prepared).trim() || `Merge into ${branch}`}\n`;
}
