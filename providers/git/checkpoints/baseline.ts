import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { compact } from '../../../platform/json/compact';
import { listedFiles } from '../files/listed-files';
import { commitTree, readHeadCommit, writeIndexTree, writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import { unfinishedOperation } from '../operation-state';
import { baselineRef } from '../refs/names';
import { refTarget, setRef } from '../refs/set-ref';
import type { GitRunner } from '../run-git';
import { type FileStatus, readStatus, type StatusEntry, untrackedIn, type WorktreeStatus } from '../status';
import type { WorktreeIdentity } from '../worktrees/verify-worktree';
import { locateWorktree, type RecordedWorktree, type WorktreeLocation } from '../worktrees/worktree-location';

/** How often a capture is repeated while the worktree changes under it (specification 2, Limits). */
const captureTries = 3;

export interface BaselineFile {
  path: string;
  status: FileStatus;
  indexBlobHash?: string;
  /** Of the file's bytes, or of a symbolic link's target; absent when the file is deleted or cannot be read. */
  worktreeSha256?: string;
}

/** What a worktree is like. */
export interface BaselineState {
  headSha: string;
  /** `null` when HEAD was detached. */
  branch: string | null;
  /** Whether index or worktree differed from HEAD. */
  dirty: boolean;
  files: BaselineFile[];
  /** Whether there are more files than `files` lists. */
  truncated: boolean;
}

/** The same, with every path that is untracked. */
export interface DescribedWorktree extends BaselineState {
  untracked: string[];
}

/** The state of a worktree when an attempt began: enough to see what changed since, and to restore it. */
export interface Baseline extends BaselineState {
  attemptId: string;
  /** The worktree as a commit; its first parent is HEAD, its second one holds the index when that was dirty. */
  snapshot: { ref: string; commit: string };
  /** The worktree's administrative directory, so that a removed `.git` can be restored. */
  gitDir: string;
  /** Which directory the worktree was; absent in baselines that are older than the field. */
  identity?: WorktreeIdentity;
}

async function sha256Of(path: string): Promise<string | undefined> {
  try {
    const hash = createHash('sha256');
    const facts = await lstat(path);
    if (facts.isSymbolicLink()) {
      hash.update(await readlink(path, { encoding: 'buffer' }));
    } else if (facts.isFile()) {
      await pipeline(createReadStream(path), hash, { end: false });
    } else {
      return undefined;
    }
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}

/** Of those that are listed by name; the snapshot holds all of them. */
async function describeFiles(worktreePath: string, entries: readonly StatusEntry[]): Promise<BaselineFile[]> {
  const files: BaselineFile[] = [];
  for (const { path, status, indexBlobHash } of listedFiles(entries)) {
    const worktreeSha256 = status === 'deleted' ? undefined : await sha256Of(join(worktreePath, path));
    files.push({
      path,
      status,
      ...compact({ indexBlobHash, worktreeSha256 }),
    });
  }
  return files;
}

async function refuseUnfinished(location: WorktreeLocation, { entries }: WorktreeStatus): Promise<void> {
  const operation = unfinishedOperation(location.gitDir);
  if (operation !== undefined || entries.some(({ unmerged }) => unmerged)) {
    throw new GitError(
      'conflict',
      `${location.path} has an unfinished ${operation ?? 'conflict'}: finish or abort it first.`,
    );
  }
}

/** Stores the state as a commit that is the same whenever the state is. */
async function storeSnapshot(
  git: GitRunner,
  location: WorktreeLocation,
  { attemptId, status }: { attemptId: string; status: WorktreeStatus },
): Promise<string> {
  const cwd = location.path;
  const head = await readHeadCommit(git, cwd, status.headSha);
  if (!head) {
    throw new GitError('unknown-ref', `${cwd} has no commit yet.`);
  }
  const { date } = head;
  const message = (what: string): string =>
    `${what} when ${attemptId} began\n\nBoard-Head: ${head.sha}\nBoard-Branch: ${status.branch ?? ''}\n`;
  if (status.entries.length === 0) {
    return commitTree(git, cwd, { date, tree: head.tree, parents: [head.sha], message: message('Worktree') });
  }
  const indexTree = await writeIndexTree(git, location);
  const worktreeTree = await writeWorktreeTree(git, location);
  const index = await commitTree(git, cwd, {
    date,
    tree: indexTree,
    parents: [head.sha],
    message: message('Index'),
  });
  const parents = [head.sha, index];
  return commitTree(git, cwd, { date, tree: worktreeTree, parents, message: message('Worktree') });
}

/**
 * Records the state of a worktree and stores it under `refs/board/baselines/<attemptId>`. The worktree and its index are
 * not touched. The same state gives the same snapshot, so that a repeated capture changes nothing.
 *
 * @throws GitError `conflict` when a merge, rebase or the like is unfinished, or when the worktree changes all the time
 */
export async function captureBaseline(
  git: GitRunner,
  { attemptId, ...recorded }: RecordedWorktree & { attemptId: string },
): Promise<Baseline> {
  const ref = baselineRef(attemptId);
  const location = locateWorktree(git, recorded);
  const { path: cwd, gitDir } = location;
  // Read before the state is: a repetition that was overtaken finds it changed.
  const before = await refTarget(git, cwd, ref);
  const keep = (status: WorktreeStatus) => storeSnapshot(git, location, { attemptId, status });
  const { status, files, snapshot: commit } = await unmoved(git, location, keep);
  await setRef(git, cwd, { ref, sha: commit, expected: before ?? null });
  return { attemptId, ...stateOf(status, files), snapshot: { ref, commit }, gitDir, identity: location.identity };
}

/** The state of a worktree, without keeping it: what `captureBaseline` would find, and nothing is written. */
export async function describeBaseline(git: GitRunner, recorded: RecordedWorktree): Promise<DescribedWorktree> {
  const location = locateWorktree(git, recorded);
  const { status, files } = await unmoved(git, location, () => Promise.resolve(undefined));
  return { ...stateOf(status, files), untracked: untrackedIn(status) };
}

function stateOf({ headSha, branch, entries }: WorktreeStatus, files: BaselineFile[]): BaselineState {
  return { headSha, branch, dirty: entries.length > 0, files, truncated: entries.length > files.length };
}

/** Reads the state of a worktree that did not change meanwhile, in at most three tries. */
async function unmoved<T>(
  git: GitRunner,
  location: WorktreeLocation,
  keep: (status: WorktreeStatus) => Promise<T>,
): Promise<{ status: WorktreeStatus; files: BaselineFile[]; snapshot: T }> {
  const { path: cwd } = location;
  let before = await readStatus(git, cwd);
  for (let tries = 1; tries <= captureTries; tries += 1) {
    await refuseUnfinished(location, before);
    const snapshot = await keep(before);
    const files = await describeFiles(cwd, before.entries);
    // A clean state was seen in one inspection; a dirty one is read file by file.
    const after = before.entries.length > 0 ? await readStatus(git, cwd) : before;
    if (isDeepStrictEqual(before, after)) {
      return { status: before, files, snapshot };
    }
    before = after;
  }
  throw new GitError('conflict', `${cwd} kept changing while its state was recorded.`);
}
