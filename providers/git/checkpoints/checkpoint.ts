import { relative, resolve, sep } from 'node:path';
import { diffTrees, type TreeChange } from '../files/tree-diff';
import { commitTree, readCommit, writeIndexTree, writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import { checkpointRef } from '../refs/names';
import { setRef } from '../refs/set-ref';
import { type GitRunner, gitText } from '../run-git';
import { readStatus } from '../status';
import type { WorktreeIdentity } from '../worktrees/verify-worktree';
import { relocateWorktree, type WorktreeLocation } from '../worktrees/worktree-location';

/** What a worktree is like now, as objects. */
export interface WorkspaceSnapshot {
  tree: string;
  indexTree: string;
  headSha: string;
  branch: string | null;
}

export interface CapturedCheckpoint extends WorkspaceSnapshot {
  ref: string;
  commit: string;
  /** What is different from `since`. */
  changes: TreeChange[];
}

/**
 * Reads the state of a worktree into objects; neither the worktree nor its index is touched.
 *
 * @throws GitError `conflict` when a merge has left conflicts
 */
export async function snapshotWorkspace(git: GitRunner, location: WorktreeLocation): Promise<WorkspaceSnapshot> {
  const { headSha, branch, entries } = await readStatus(git, location.path);
  if (entries.some(({ unmerged }) => unmerged)) {
    throw new GitError('conflict', `${location.path} has conflicts of a merge: finish or abort it first.`);
  }
  const tree = await writeWorktreeTree(git, location);
  return { tree, indexTree: await writeIndexTree(git, location), headSha, branch };
}

/**
 * Stores the state of a worktree under `refs/board/checkpoints/<attemptId>/<number>`, outside of every branch. Its first
 * parent is HEAD; the second one holds the index where that is not what the files are.
 *
 * @param request.since the state it is compared with; `tree` may name anything that has one
 * @returns `undefined` when nothing is different from `since`
 */
export async function captureCheckpoint(
  git: GitRunner,
  request: {
    worktreePath: string;
    attemptId: string;
    number: number;
    since: Pick<WorkspaceSnapshot, 'tree' | 'headSha'> & { indexTree?: string };
    gitDir?: string;
    identity?: WorktreeIdentity | undefined;
  },
): Promise<CapturedCheckpoint | undefined> {
  const { attemptId, number, since } = request;
  const ref = checkpointRef(attemptId, number);
  const location = await relocateWorktree(git, request);
  const { path: cwd } = location;
  const state = await snapshotWorkspace(git, location);
  const sinceTree = await gitText(git, ['rev-parse', '--verify', '--end-of-options', `${since.tree}^{tree}`], { cwd });
  const sameIndex = since.indexTree === undefined || since.indexTree === state.indexTree;
  if (state.tree === sinceTree && state.headSha === since.headSha && sameIndex) {
    return undefined;
  }

  const date = (await readCommit(git, cwd, state.headSha))?.date ?? 0;
  const message = (what: string) => `${what} of ${attemptId} at checkpoint ${number}\n`;
  const parents = [state.headSha];
  if (state.indexTree !== state.tree) {
    parents.push(await commitTree(git, cwd, { date, tree: state.indexTree, parents, message: message('Index') }));
  }
  const commit = await commitTree(git, cwd, { date, tree: state.tree, parents, message: message('Worktree') });
  await setRef(git, cwd, { ref, sha: commit });
  return { ref, commit, ...state, changes: await diffTrees(git, location, { before: sinceTree, after: state.tree }) };
}

/** A path as git names it, relative to the worktree; `undefined` for one that lies outside, or in git's own directory. */
export function pathInWorktree(worktreePath: string, path: string): string | undefined {
  if (path.includes('\0')) {
    return undefined;
  }
  const inside = relative(worktreePath, resolve(worktreePath, path));
  const [first] = inside.split(sep);
  return inside === '' || first === '..' || first === '.git' ? undefined : inside;
}
