import { isDeepStrictEqual } from 'node:util';
import type { StoppedRebase } from '../../../contracts/runs/conflict';
import { restoreHead } from '../checkpoints/restore';
import { readCommit, resolveCommit, writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import { forgetOperations } from '../operation-state';
import { isAncestor } from '../refs/ancestry';
import { assertBranchName, continuedRef } from '../refs/names';
import { conflictingPaths, endRebases, putBack, runRebase } from '../refs/run-rebase';
import { setRef } from '../refs/set-ref';
import { type GitRunner, gitText } from '../run-git';
import { clearStaleLocks } from '../worktrees/locks';
import {
  locateWorktree,
  type RecordedWorktree,
  verifyStill,
  type WorktreeLocation,
} from '../worktrees/worktree-location';
import { refuseUnresolved } from './resolve';
import { readStopped } from './unfinished';

export interface ContinueRebaseRequest extends RecordedWorktree {
  /** Names the reference to the resolved commit: `refs/board/continued/<id>`. The same for every repetition. */
  id: string;
  branch: string;
  /** The rebase as it had stopped. */
  stopped: StoppedRebase;
  /** The message of the resolved commit; its own when absent. */
  message?: string | undefined;
}

/**
 * How a continued operation ended: `done`; `stopped` again, at conflicts of `paths`; or `undone`, with the branch where it was
 * before the rebase, because git could not apply what follows.
 */
export interface Continued {
  ended: 'done' | 'stopped' | 'undone';
  headSha: string;
  paths: string[];
  reason?: string;
}

/**
 * Commits a resolution under its author, and applies the commits that follow to it. Git's own list of them is not used: an agent
 * could have written programs into it. Can be repeated, also after it was killed anywhere: from the resolved commit on, everything
 * is done again.
 *
 * @throws GitError `merge-conflict` while files are in conflict, `stale` when the worktree is not as it had stopped
 */
export async function continueRebase(git: GitRunner, request: ContinueRebaseRequest): Promise<Continued> {
  const { branch, stopped } = request;
  assertBranchName(branch);
  const ref = continuedRef(request.id);
  const location = locateWorktree(git, request);
  const { path: cwd } = location;
  await git.verify();
  await endRebases(ref);
  await clearStaleLocks(location, branch, git);
  const resolved = (await resolveCommit(git, cwd, ref)) ?? (await commitResolution(git, location, request));
  const tip = await resolveCommit(git, cwd, `refs/heads/${branch}`);
  if (tip !== undefined && tip !== stopped.branchSha) {
    return finishedBefore(git, location, { branch, tip, resolved });
  }
  // From here on nothing is uncommitted but what an earlier try has left.
  await git(['read-tree', '--reset', resolved], { cwd });
  if (stopped.remaining.length === 0) {
    await land(git, location, { branch, sha: resolved });
    return { ended: 'done', headSha: resolved, paths: [] };
  }
  await putBack(git, location, { branch, headSha: stopped.branchSha });
  return applyRest(git, location, { branch, ref, resolved, stopped });
}

/** An earlier try has moved the branch, which is the last that a rebase does. */
async function finishedBefore(
  git: GitRunner,
  location: WorktreeLocation,
  { branch, tip, resolved }: { branch: string; tip: string; resolved: string },
): Promise<Continued> {
  const { path: cwd } = location;
  if (!(await isAncestor(git, cwd, { ancestor: resolved, descendant: tip }))) {
    throw new GitError('stale', `${branch} was moved to ${tip} meanwhile.`);
  }
  await git(['read-tree', '--reset', tip], { cwd });
  await land(git, location, { branch, sha: tip });
  return { ended: 'done', headSha: tip, paths: [] };
}

/** Points the branch at a commit whose files are in the worktree already; the marks of the rebase are removed last. */
async function land(git: GitRunner, location: WorktreeLocation, at: { branch: string; sha: string }): Promise<void> {
  const { path: cwd } = location;
  verifyStill(location);
  await restoreHead(git, cwd, { branch: at.branch, headSha: at.sha });
  // Exit code 1 reports files that were changed meanwhile: they stay as they are.
  await git(['update-index', '-q', '--refresh'], { cwd, okCodes: [1] });
  await git.verify();
  await forgetOperations(location.gitDir);
}

/** Applies the commits that follow with a rebase of their own, from a list of our own. */
async function applyRest(
  git: GitRunner,
  location: WorktreeLocation,
  { branch, ref, resolved, stopped }: { branch: string; ref: string; resolved: string; stopped: StoppedRebase },
): Promise<Continued> {
  const { path: cwd } = location;
  const list = stopped.remaining.map((sha) => `pick ${sha}\n`).join('');
  const range = ['--interactive', '--empty=drop', '--onto', resolved, stopped.branchSha];
  try {
    await runRebase(git, cwd, { ref, range, env: { GIT_SEQUENCE_EDITOR: writeList, BOARD_REBASE_LIST: list } });
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'failed') {
      throw error;
    }
    const paths = await conflictingPaths(git, cwd);
    const headSha = (await resolveCommit(git, cwd, 'HEAD')) ?? resolved;
    if (paths.length > 0) {
      return { ended: 'stopped', headSha, paths };
    }
    await putBack(git, location, { branch, headSha: stopped.branchSha });
    return { ended: 'undone', headSha: stopped.branchSha, paths: [], reason: error.message };
  }
  const headSha = await resolveCommit(git, cwd, 'HEAD');
  return { ended: 'done', headSha: headSha ?? resolved, paths: [] };
}

/** Git calls it with the path of the list as a further argument. */
const writeList = 'printf %s "$BOARD_REBASE_LIST" >';

/** Makes the commit of a resolution, and a reference to it. Where nothing is left of the commit, that is HEAD. */
async function commitResolution(
  git: GitRunner,
  location: WorktreeLocation,
  { id, branch, stopped, message }: ContinueRebaseRequest,
): Promise<string> {
  const { path: cwd } = location;
  const current = await readStopped(git, location, branch);
  if (current?.kind !== 'rebase' || !isDeepStrictEqual(current, stopped)) {
    throw new GitError('stale', `The rebase in ${cwd} is not as it had stopped; look at its conflicts again.`);
  }
  await refuseUnresolved(git, location);
  const [head, tree] = await Promise.all([readCommit(git, cwd, stopped.headSha), writeWorktreeTree(git, location)]);
  if (!head) {
    throw new GitError('unknown-ref', `${cwd} has no commit.`);
  }
  const sha = tree === head.tree ? head.sha : await commitAs(git, cwd, { tree, stopped, message });
  await setRef(git, cwd, { ref: continuedRef(id), sha, expected: null });
  return sha;
}

/** Commits under the author of the commit that is resolved. */
async function commitAs(
  git: GitRunner,
  cwd: string,
  { tree, stopped, message }: { tree: string; stopped: StoppedRebase; message: string | undefined },
): Promise<string> {
  const format = '--format=%an%x00%ae%x00%ad%x00%B';
  const command = ['log', '-1', '--no-show-signature', '--date=raw', '--encoding=UTF-8', format, stopped.stoppedSha];
  const [name = '', email = '', date = '', ...body] = (await gitText(git, command, { cwd })).split('\0');
  const text = message ?? body.join('\0');
  const env = { GIT_AUTHOR_NAME: name.trim() || 'Unknown', GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${date}` };
  return gitText(git, ['commit-tree', tree, '-p', stopped.headSha, '-F', '-'], {
    cwd,
    input: text.endsWith('\n') ? text : `${text}\n`,
    env,
  });
}
