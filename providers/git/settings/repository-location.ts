import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { GitError } from '../git-error';
import { readPath } from '../worktrees/linked-worktree';

/** Where the parts of the repository of a directory are; all paths are absolute and without symbolic links. */
export interface RepositoryLocation {
  /** The directory whose files git works on; `null` for a bare repository, and for a `.git` directory itself. */
  workTree: string | null;
  /** HEAD, index and state of this worktree. */
  gitDir: string;
  /** Objects, branches and other references. */
  commonDir: string;
}

const refused = (cwd: string): GitError => new GitError('not-a-repository', `${cwd} is not a git repository.`);

const kindOf = (path: string): 'file' | 'directory' | undefined => {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts) {
    return undefined;
  }
  // A primary checkout may have its repository elsewhere; what must be no link is checked where worktrees are verified.
  return facts.isFile() ? 'file' : 'directory';
};

function commonDirOf(gitDir: string): string {
  const file = join(gitDir, 'commondir');
  if (!existsSync(file)) {
    return gitDir;
  }
  const target = readPath(file);
  return target === undefined ? gitDir : realpathSync.native(resolve(gitDir, target));
}

/**
 * Finds the repository of exactly this directory, and not of one around it, without asking git: git would read the
 * repository's configuration.
 *
 * @throws GitError `not-a-repository`
 */
export function locateRepository(cwd: string): RepositoryLocation {
  if (!isAbsolute(cwd) || /[\n\0]/.test(cwd)) {
    throw new GitError('not-a-repository', `${JSON.stringify(cwd)} is not an absolute path.`);
  }
  try {
    const path = realpathSync.native(cwd);
    const link = join(path, '.git');
    const kind = kindOf(link);
    const target = kind === 'file' ? readPath(link, 'gitdir: ') : kind === 'directory' ? link : path;
    if (target === undefined) {
      throw refused(cwd);
    }
    const gitDir = realpathSync.native(resolve(path, target));
    const commonDir = commonDirOf(gitDir);
    const needed = [join(gitDir, 'HEAD'), ...['HEAD', 'objects', 'refs'].map((name) => join(commonDir, name))];
    if (!needed.every((file) => existsSync(file))) {
      throw refused(cwd);
    }
    return { workTree: kind === undefined ? null : path, gitDir, commonDir };
  } catch (error) {
    throw error instanceof GitError ? error : refused(cwd);
  }
}
