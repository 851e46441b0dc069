import { GitError } from '../git-error';
import { unfinishedOperation } from '../operation-state';
import { assertBranchName, resultRef } from '../refs/names';
import { refTarget, setRef } from '../refs/set-ref';
import type { GitRunner } from '../run-git';
import type { WorktreeStatus } from '../status';
import { clearStaleLocks } from '../worktrees/locks';
import {
  type RecordedWorktree,
  relocateWorktree,
  remadeAt,
  verifyStill,
  type WorktreeLocation,
} from '../worktrees/worktree-location';
import type { CommitHead } from './recent-commits';
import { diffTrees, type TreeChange } from './tree-diff';
import {
  type CommitFacts,
  commitTree,
  readCommit,
  readHeadCommit,
  readStatusOfAny,
  replacingIndex,
  revealHiddenFiles,
  writeWorktree,
} from './trees';

export interface StoreWorkRequest extends RecordedWorktree {
  gitDir?: string | undefined;
  /** Names the reference: `refs/board/results/<id>`. The same for every repetition. */
  id: string;
  /** The branch that the commit is made on. */
  branch: string;
  message: string;
  author?: { name: string; email: string };
  /** Why the commit must not go onto the branch: then only the reference leads to it. */
  withhold?: string | undefined;
}

export interface StoredWork {
  sha: string;
  ref: string;
  /** How many files differ from HEAD. */
  files: number;
  /** Why the branch was not moved to it; `null` when it was. */
  withheld: string | null;
  /** Files that git could not read, which are in no commit. */
  skipped: string[];
}

/**
 * Commits what is uncommitted in a worktree, new files too and ignored ones not, on its branch and under a reference of its
 * own. Where the branch must not or cannot be moved, the reference alone keeps it and the worktree stays as it is. Can be
 * repeated, also after it was killed halfway.
 *
 * @returns `undefined` when nothing is uncommitted
 */
export async function storeWork(git: GitRunner, request: StoreWorkRequest): Promise<StoredWork | undefined> {
  assertBranchName(request.branch);
  const ref = resultRef(request.id);
  const location = await relocateWorktree(git, request);
  const { path: cwd } = location;
  if (location.gitDir === location.commonDir) {
    throw new GitError('outside', `${cwd} is a primary checkout.`);
  }
  const status = await readStatusOfAny(git, location);
  const head = await readHeadCommit(git, cwd, status.headSha);
  if (!head) {
    return undefined;
  }
  const [earlier, { tree, skipped }] = await Promise.all([earlierCommit(git, cwd, ref), writeWorktree(git, location)]);
  if (tree === head.tree) {
    return earlier?.sha === head.sha ? completeCommit(git, location, { earlier, request }) : undefined;
  }
  const changes = await diffTrees(git, location, { before: head.tree, after: tree });
  const withheld = request.withhold ?? obstacle(location, status, { branch: request.branch, changes, skipped });
  const same = earlier?.tree === tree && earlier.parents.join() === head.sha;
  const sha = same ? earlier.sha : await commit(git, cwd, { head, tree, request });
  await setRef(git, cwd, { ref, sha, expected: earlier?.sha ?? null });
  if (withheld === undefined) {
    verifyStill(location);
    await clearStaleLocks(location, request.branch, git);
    await setRef(git, cwd, { ref: `refs/heads/${request.branch}`, sha, expected: head.sha });
    // The branch has the commit, whatever becomes of the index.
    await alignIndex(git, location, sha).catch((error: unknown) => {
      if (!(error instanceof GitError) || error.code === 'fenced') {
        throw error;
      }
      git.log?.warn({ worktree: cwd, err: error }, 'index not aligned with the commit');
    });
  }
  return { sha, ref, files: changes.length, withheld: withheld ?? null, skipped };
}

/** What an earlier try has stored. */
async function earlierCommit(git: GitRunner, cwd: string, ref: string): Promise<CommitFacts | undefined> {
  const sha = await refTarget(git, cwd, ref);
  return sha === undefined ? undefined : readCommit(git, cwd, sha);
}

/** Repeats the end of a try that moved the branch, and may have been killed before the index followed. */
async function completeCommit(
  git: GitRunner,
  location: WorktreeLocation,
  { earlier: { sha, parents }, request }: { earlier: CommitFacts; request: StoreWorkRequest },
): Promise<StoredWork> {
  await clearStaleLocks(location, request.branch, git);
  await alignIndex(git, location, sha);
  const [before = sha] = parents;
  const { length: files } = await diffTrees(git, location, { before, after: sha });
  return { sha, ref: resultRef(request.id), files, withheld: null, skipped: [] };
}

/** Why the branch cannot be moved to a commit of the files as they are. */
function obstacle(
  { gitDir, path }: WorktreeLocation,
  status: WorktreeStatus,
  { branch, changes, skipped }: { branch: string; changes: readonly TreeChange[]; skipped: readonly string[] },
): string | undefined {
  const operation = unfinishedOperation(gitDir);
  if (operation !== undefined || status.entries.some(({ unmerged }) => unmerged)) {
    return `A ${operation ?? 'merge'} is unfinished in the worktree.`;
  }
  if (status.branch !== branch) {
    return `The worktree is on ${status.branch ?? 'a detached HEAD'}, not on ${branch}.`;
  }
  if (remadeAt(path) && changes.every(({ after }) => !after)) {
    return 'The directory of the worktree was removed; a commit would remove every file.';
  }
  const nested = changes.find(({ before, after }) => after?.mode === repositoryMode && before?.mode !== repositoryMode);
  const inside = nested?.path ?? skipped.find((skippedPath) => skippedPath.endsWith('/'))?.slice(0, -1);
  return inside && `${inside} is a repository of its own, whose files a commit would leave out.`;
}

/** How a tree lists a repository inside the worktree. */
const repositoryMode = '160000';

function commit(
  git: GitRunner,
  cwd: string,
  { head, tree, request: { message, author } }: { head: CommitHead; tree: string; request: StoreWorkRequest },
): Promise<string> {
  const date = Math.floor(Date.now() / 1_000);
  const ended = message.endsWith('\n') ? message : `${message}\n`;
  return commitTree(git, cwd, { tree, parents: [head.sha], message: ended, date, ...(author ? { author } : {}) });
}

/** Makes the index what HEAD is now; the files are that already. */
async function alignIndex(git: GitRunner, location: WorktreeLocation, sha: string): Promise<void> {
  const { path: cwd } = location;
  await replacingIndex(git, location, async () => {
    // Git refuses to change entries whose marks make it ignore their files.
    await revealHiddenFiles(git, cwd);
    await git(['read-tree', '--reset', sha], { cwd });
  });
  // Exit code 1 reports files that were changed meanwhile: they stay as they are.
  await git(['update-index', '-q', '--refresh'], { cwd, okCodes: [1] });
}
