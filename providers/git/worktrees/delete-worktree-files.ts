import { lstatSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { GitRunner } from '../run-git';
import { verifyDirectory, type WorktreeIdentity } from './verify-worktree';

/** What follows the path of a worktree while it is deleted. */
const deletingSuffix = '.dropped';

const removeAll = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });

/**
 * Deletes a worktree's directory, and then its record in the repository: killed in between, the repository still records
 * that there was one. What a link in it leads to stays.
 *
 * @param repository the repository's own directory (`--git-common-dir`)
 * @param worktree.path as git records it
 * @throws GitError `worktree-replaced`
 */
export async function deleteWorktreeFiles(
  git: GitRunner,
  repository: string,
  { path, identity }: { path: string; identity?: WorktreeIdentity | undefined },
): Promise<void> {
  const deleting = `${path}${deletingSuffix}`;
  await git.verify();
  // One step, so that a process that was stopped in it cannot continue in a replacement made since.
  if (verifyDirectory(path, identity)) {
    await removeAll(deleting);
    git.assertHeld();
    await rename(path, deleting);
  }
  await removeAll(deleting);
  git.repositories.unpin(path);
  // Twice, because it may be locked.
  await git(['worktree', 'remove', '--force', '--force', '--', path], { cwd: repository });
}

/** Where the replacement of a worktree is moved to. */
export const replacedPath = (path: string, id: string): string => `${path}.replaced-${id}`;

/** Moves the replacement of a worktree out of the way, unchanged: a link is not followed, and nothing is deleted. */
export async function moveReplaced(path: string, id: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })) {
    await rename(path, replacedPath(path, id));
  }
}
