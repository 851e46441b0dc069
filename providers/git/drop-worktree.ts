import { rm } from 'node:fs/promises';
import type { GitRunner } from './run-git';

/**
 * Deletes a worktree's directory, and then what the repository knows of it: killed in between, the repository still says
 * that there was one. What a link in it leads to stays.
 *
 * @param repository the repository's own directory (`--git-common-dir`)
 * @param path as git records it
 */
export async function dropWorktree(git: GitRunner, repository: string, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  // Twice, because it may be locked.
  await git(['worktree', 'remove', '--force', '--force', '--', path], { cwd: repository });
}
