import { mkdir, realpath, rename, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { GitError } from './git-error';
import { readLinkedWorktree } from './linked-worktree';
import { type GitRunner, gitText } from './run-git';

/** Where the parts of a worktree are. All paths are absolute. */
export interface WorktreeLocation {
  path: string;
  /** The worktree's own administrative directory: its HEAD, index and state. */
  gitDir: string;
  /** The repository's: objects, branches and other references. */
  commonDir: string;
}

const sameFile = async (a: string, b: string): Promise<boolean> => {
  const [left, right] = await Promise.all([a, b].map((path) => realpath(path).catch(() => undefined)));
  return left !== undefined && left === right;
};

/**
 * Finds the worktree at exactly this path; a directory inside a worktree is not one.
 *
 * @throws GitError `not-a-repository`
 */
export async function locateWorktree(git: GitRunner, worktreePath: string): Promise<WorktreeLocation> {
  if (!isAbsolute(worktreePath) || worktreePath.includes('\n') || worktreePath.includes('\0')) {
    throw new GitError('not-a-repository', `${JSON.stringify(worktreePath)} is not an absolute path.`);
  }
  const linked = readLinkedWorktree(worktreePath);
  if (linked) return linked;
  const questions = ['--show-toplevel', '--git-dir', '--git-common-dir'];
  const answer = await gitText(git, ['rev-parse', '--path-format=absolute', ...questions], { cwd: worktreePath });
  const [topLevel, gitDir, commonDir] = answer.split('\n');
  if (!topLevel || !gitDir || !commonDir || !(await sameFile(topLevel, worktreePath))) {
    throw new GitError('not-a-repository', `${worktreePath} is not a worktree of its own.`);
  }
  return { path: topLevel, gitDir, commonDir };
}

/**
 * Like `locateWorktree`, for a worktree an agent may have damaged: a removed or changed `.git` link is put back first.
 *
 * @param gitDir the administrative directory that was recorded when the worktree was whole
 */
export async function relocateWorktree(
  git: GitRunner,
  worktreePath: string,
  gitDir: string | undefined,
): Promise<WorktreeLocation> {
  try {
    const location = await locateWorktree(git, worktreePath);
    if (gitDir === undefined || (await sameFile(location.gitDir, gitDir))) return location;
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'not-a-repository' || gitDir === undefined) throw error;
  }
  await relink(worktreePath, gitDir);
  return locateWorktree(git, worktreePath);
}

async function relink(worktreePath: string, gitDir: string): Promise<void> {
  await mkdir(worktreePath, { recursive: true });
  const link = join(worktreePath, '.git');
  // A repository the agent made in its place is its work: it is moved aside, not deleted.
  await rename(link, join(gitDir, `replaced-${Date.now()}`)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
  await writeFile(link, `gitdir: ${gitDir}\n`);
}
