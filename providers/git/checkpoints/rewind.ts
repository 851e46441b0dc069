import { randomUUID } from 'node:crypto';
import { realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RewindDecision } from '../../../contracts/runs/rewind';
import { diffTrees, type TreeChange } from '../files/tree-diff';
import { commitTree, readCommit, revealHiddenFiles } from '../files/trees';
import { GitError } from '../git-error';
import { assertBranchName, assertObjectName, rewindRef } from '../refs/names';
import { setRef } from '../refs/set-ref';
import { type GitRunner, gitText } from '../run-git';
import { clearStaleLocks } from '../worktrees/locks';
import {
  type RecordedWorktree,
  relocateWorktree,
  verifyStill,
  type WorktreeLocation,
} from '../worktrees/worktree-location';
import { snapshotWorkspace, type WorkspaceSnapshot } from './checkpoint';
import { restoreHead } from './restore';

export interface RewindPreview {
  before: WorkspaceSnapshot;
  /** What is different from the target, each path as it is and as it would be. */
  changes: TreeChange[];
}

export interface RewindRequest extends RecordedWorktree {
  gitDir?: string;
  /** Names the reference to the worktree's state before. */
  id: string;
  before: WorkspaceSnapshot;
  target: WorkspaceSnapshot;
  /** Paths that do not simply go back; every other one is accepted. */
  decisions: ReadonlyMap<string, RewindDecision>;
}

export interface RewindResult {
  ref: string;
  after: WorkspaceSnapshot;
  /** Paths that were changed during the rewind: they were not touched. */
  leftBehind: string[];
}

/** What taking a worktree back to a checkpoint would change. Nothing is touched. */
export async function previewRewind(
  git: GitRunner,
  { target, ...recorded }: RecordedWorktree & { gitDir?: string; target: WorkspaceSnapshot },
): Promise<RewindPreview> {
  const location = await relocateWorktree(git, recorded);
  const before = await snapshotWorkspace(git, location);
  return { before, changes: await diffTrees(git, location, { before: before.tree, after: target.tree }) };
}

/**
 * Rewinds a worktree: HEAD and its branch, the accepted files, and the index. Its state before is stored first,
 * under `refs/board/rewinds/<id>`. Can be repeated, also after it was killed halfway: it resumes where it stopped. A file
 * that by then has neither its old nor its new content is new work, and is not touched.
 */
export async function rewindWorkspace(git: GitRunner, request: RewindRequest): Promise<RewindResult> {
  const { before, target, decisions } = request;
  if (before.branch !== target.branch) {
    throw new GitError('conflict', 'The worktree is now on another branch.');
  }
  if (target.branch !== null) {
    assertBranchName(target.branch);
  }
  assertObjectName(target.headSha);
  const location = await relocateWorktree(git, request);
  const { path: cwd } = location;
  verifyStill(location);
  await git.verify();
  await clearStaleLocks(location, before.branch, git);
  const ref = await keep(git, cwd, request);

  const changes = await diffTrees(git, location, { before: before.tree, after: target.tree });
  const accepted = changes.filter(({ path }) => (decisions.get(path) ?? 'accept') === 'accept');
  const current = await snapshotWorkspace(git, location);
  const since = new Map(
    (await diffTrees(git, location, { before: before.tree, after: current.tree })).map((one) => [one.path, one]),
  );
  const outstanding = accepted.filter(({ path }) => !since.has(path));
  // Neither what it was nor what it should be.
  const others = accepted.filter(({ path, after }) => {
    const changed = since.get(path);
    return changed !== undefined && !sameEntry(changed.after, after);
  });

  if (![before.headSha, target.headSha].includes(current.headSha)) {
    throw new GitError('conflict', 'The worktree has a new commit.');
  }
  if (current.headSha !== target.headSha) {
    await restoreHead(git, cwd, target);
  }
  await write(git, location, { changes: outstanding, tree: target.tree });
  await rewindIndex(git, location, request);
  return { ref, after: await snapshotWorkspace(git, location), leftBehind: others.map(({ path }) => path) };
}

async function keep(git: GitRunner, cwd: string, { id, before }: RewindRequest): Promise<string> {
  const ref = rewindRef(id);
  if (await readCommit(git, cwd, ref)) {
    return ref;
  }
  const date = (await readCommit(git, cwd, before.headSha))?.date ?? 0;
  const message = `Before ${id}\n`;
  const parents = [before.headSha];
  if (before.indexTree !== before.tree) {
    parents.push(await commitTree(git, cwd, { date, tree: before.indexTree, parents, message }));
  }
  const commit = await commitTree(git, cwd, { date, tree: before.tree, parents, message });
  await setRef(git, cwd, { ref, sha: commit, expected: null });
  return ref;
}

/** Writes files as a tree has them; removals come first, because a directory may replace a file. */
async function write(
  git: GitRunner,
  location: WorktreeLocation,
  { changes, tree }: { changes: readonly TreeChange[]; tree: string },
): Promise<void> {
  const { path: cwd, gitDir } = location;
  verifyStill(location);
  await git.verify();
  for (const { path } of changes.filter(({ after }) => after === null)) {
    git.assertHeld();
    await removeFile(cwd, path);
  }
  const written = changes.filter(({ after }) => after !== null).map(({ path }) => path);
  if (written.length === 0) {
    return;
  }
  const env = { GIT_INDEX_FILE: join(gitDir, `board-rewind-${randomUUID()}`) };
  try {
    await git(['read-tree', tree], { cwd, env });
    verifyStill(location);
    await git(['checkout-index', '--force', '-z', '--stdin'], { cwd, env, input: `${written.join('\0')}\0` });
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

async function removeFile(cwd: string, path: string): Promise<void> {
  const holder = dirname(join(cwd, path));
  // A link may have replaced the directory since: its target is not the worktree's.
  if ((await realpath(holder).catch(() => holder)) !== holder) {
    return;
  }
  await rm(join(cwd, path), { force: true });
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
    try {
      await rmdir(join(cwd, parent));
    } catch {
      return;
    }
  }
}

/** Rewinds the index, except for paths that are left untouched; an entry that was changed meanwhile stays. */
async function rewindIndex(
  git: GitRunner,
  location: WorktreeLocation,
  { before, target, decisions }: RewindRequest,
): Promise<void> {
  const { path: cwd, gitDir } = location;
  const changes = await diffTrees(git, location, { before: before.indexTree, after: target.indexTree });
  const lines = changes
    .filter(({ path }) => decisions.get(path) !== 'leave-untouched')
    .map(({ path, after }) => `${after?.mode ?? '0'} ${after?.object ?? '0'.repeat(before.tree.length)}\t${path}\0`);
  const env = { GIT_INDEX_FILE: join(gitDir, `board-rewind-${randomUUID()}`) };
  try {
    await git(['read-tree', before.indexTree], { cwd, env });
    if (lines.length > 0) {
      await git(['update-index', '-z', '--index-info'], { cwd, env, input: lines.join('') });
    }
    const expectedTree = await gitText(git, ['write-tree'], { cwd, env });
    const current = await gitText(git, ['write-tree'], { cwd });
    if (current === expectedTree || current !== before.indexTree) {
      return;
    }
    await revealHiddenFiles(git, cwd);
    await git(['read-tree', '--reset', expectedTree], { cwd });
    // Exit code 1 reports files that differ from the index, which is expected.
    await git(['update-index', '-q', '--refresh'], { cwd, okCodes: [1] });
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

const sameEntry = (a: TreeChange['after'], b: TreeChange['after']): boolean =>
  a?.object === b?.object && a?.mode === b?.mode;
