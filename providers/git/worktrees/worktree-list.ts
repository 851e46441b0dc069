import { basename, dirname } from 'node:path';
import type { GitRunner } from '../run-git';
import { fromFiles } from '../settings/from-files';
import { readWorktreeList } from './worktree-files';
import type { ListedWorktree } from './worktree-git';

/** Parses `git worktree list --porcelain -z`. */
export function parseWorktrees(output: string): ListedWorktree[] {
  return output
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const lines = record.split('\0');
      const value = (key: string): string | null => {
        const line = lines.find((candidate) => candidate === key || candidate.startsWith(`${key} `));
        return line?.slice(key.length + 1) ?? null;
      };
      return {
        path: value('worktree') ?? '',
        headSha: value('HEAD'),
        branch: value('branch')?.replace(/^refs\/heads\//, '') ?? null,
        locked: value('locked'),
        prunable: value('prunable'),
      };
    });
}

/** Where the primary checkout of a repository is; a bare one is named itself. */
const primaryPath = (commonDir: string): string => (basename(commonDir) === '.git' ? dirname(commonDir) : commonDir);

/** Every worktree of a repository, its primary checkout first. */
export async function listWorktrees(git: GitRunner, cwd: string): Promise<ListedWorktree[]> {
  const [first, ...others] = (await fromFiles(git, cwd, readWorktreeList)) ?? (await askGit(git, cwd));
  // Git takes the directory it was given for the repository's own.
  return first ? [{ ...first, path: primaryPath(git.repositories.place(cwd).commonDir) }, ...others] : others;
}

async function askGit(git: GitRunner, cwd: string): Promise<ListedWorktree[]> {
  const { stdout } = await git(['worktree', 'list', '--porcelain', '-z'], { cwd });
  return parseWorktrees(stdout);
}
