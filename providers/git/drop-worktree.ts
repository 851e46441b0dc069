import { lstatSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { GitRunner } from './run-git';
import { verifyDirectory, type WorktreeIdentity } from './verify-worktree';

/** What follows the path of a worktree while it is deleted. */
const droppedSuffix = '.dropped';

const removeAll = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });

/**
 * Deletes a worktree's directory, and then what the repository knows of it: killed in between, the repository still says
 * that there was one. What a link in it leads to stays.
 *
 * @param repository the repository's own directory (`--git-common-dir`)
 * @param worktree.path as git records it
 * @throws GitError `worktree-replaced`
 */
export async function dropWorktree(
  git: GitRunner,
  repository: string,
  { path, identity }: { path: string; identity?: WorktreeIdentity | undefined },
): Promise<void> {
  const dropped = `${path}${droppedSuffix}`;
  await git.verify();
  // One step, so that a process that was stopped in it cannot go on in what was made in its place since.
  if (verifyDirectory(path, identity)) {
    await removeAll(dropped);
    git.assertHeld();
    await rename(path, dropped);
  }
  await removeAll(dropped);
  git.repositories.unpin(path);
  // Twice, because it may be locked.
  await git(['worktree', 'remove', '--force', '--force', '--', path], { cwd: repository });
}

/** Where what was put in a worktree's place is moved to. */
export const asidePath = (path: string, id: string): string => `${path}.replaced-${id}`;

/** Moves what was put in a worktree's place out of the way, as it is: a link is not followed, and nothing is deleted. */
export async function moveAside(path: string, id: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })) await rename(path, asidePath(path, id));
}
