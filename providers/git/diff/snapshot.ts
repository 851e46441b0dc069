import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { writeWorktreeTree } from '../files/trees';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { readStatus, type StatusEntry } from '../status';
import type { WorktreeLocation } from '../worktrees/worktree-location';

/** Files that are larger are named and not read, in bytes. */
const readableBytes = 16 * 1_048_576;

/** The most that the changed files of a worktree may have together, in bytes. */
const maxChangedBytes = 256 * 1_048_576;

/** The most files of a worktree that may differ from its index and HEAD. */
const maxChangedFiles = 20_000;

/** The files of a worktree as they are now, as a tree that no reference leads to. */
export interface ReadingSnapshot {
  tree: string;
  /** Files that were too large to be read, with their size in bytes. */
  oversized: ReadonlyMap<string, number>;
}

/**
 * Reads a worktree into a tree, uncommitted and untracked files too; neither the worktree nor its index is touched.
 *
 * @param git writes objects to where they are removed again
 * @throws GitError `too-large`
 */
export async function snapshotForReading(git: GitRunner, location: WorktreeLocation): Promise<ReadingSnapshot> {
  const { entries } = await readStatus(git, location.path);
  const oversized = oversizedIn(location.path, entries);
  const instead = new Map([...oversized].map(([path, size]) => [path, `${size} bytes that are not shown\n`]));
  const tree = await writeWorktreeTree(git, location, instead);
  return { tree, oversized };
}

/** @throws GitError `too-large` when there is too much to read */
function oversizedIn(root: string, entries: readonly StatusEntry[]): Map<string, number> {
  if (entries.length > maxChangedFiles) {
    throw new GitError(
      'too-large',
      `${entries.length} files differ from HEAD, of ${maxChangedFiles} that are read; let git ignore generated files, or commit them.`,
    );
  }
  const sizes = entries.map(({ path }) => [path, sizeOf(join(root, path))] as const);
  const read = sizes.filter(([, size]) => size <= readableBytes).reduce((sum, [, size]) => sum + size, 0);
  if (read > maxChangedBytes) {
    throw new GitError(
      'too-large',
      `Files that differ from HEAD have ${read} bytes, of ${maxChangedBytes} that are read; let git ignore generated files.`,
    );
  }
  return new Map(sizes.filter(([, size]) => size > readableBytes));
}

function sizeOf(path: string): number {
  try {
    const facts = lstatSync(path);
    return facts.isFile() ? facts.size : 0;
  } catch {
    // It is gone, or a directory on its way is a file now.
    return 0;
  }
}
