import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { GitError } from '../git-error';
import { readPlainFile } from '../settings/plain-file';
import { readPath } from './linked-worktree';

/** Which directory a worktree is, whatever its path leads to by now. Numbers as the file system gives them, in decimal. */
export interface WorktreeIdentity {
  device: string;
  inode: string;
  /** When it was made, in nanoseconds since 1970; `0` where the file system does not record it. */
  born: string;
}

/** What is at the path is not what was recorded there: nothing is done with it. */
export const replaced = (path: string, why: string): GitError =>
  new GitError('worktree-replaced', `${path} is not the worktree that was recorded there: ${why}.`);

/** The identity of a directory; `undefined` when there is nothing at the path. @throws GitError `worktree-replaced` */
function identityAt(path: string): WorktreeIdentity | undefined {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!facts) {
    return undefined;
  }
  if (facts.isSymbolicLink()) {
    throw replaced(path, 'it is a symbolic link');
  }
  if (!facts.isDirectory()) {
    throw replaced(path, 'it is not a directory');
  }
  return { device: String(facts.dev), inode: String(facts.ino), born: String(facts.birthtimeNs) };
}

/**
 * Whether two inspections saw one directory. A device may get another number when the machine starts: then the directory has to
 * lie on the device of the one that holds it, and to have been made at the same time.
 */
function isSame(path: string, recorded: WorktreeIdentity, now: WorktreeIdentity): boolean {
  if (recorded.inode !== now.inode) {
    return false;
  }
  if (recorded.device === now.device) {
    return true;
  }
  const holder = lstatSync(dirname(path), { bigint: true });
  return recorded.born !== '0' && recorded.born === now.born && String(holder.dev) === now.device;
}

/**
 * Makes sure that a path is the directory that was recorded: itself, without a symbolic link anywhere on the way.
 *
 * @param recorded absent for a worktree of which nothing was recorded yet
 * @returns its identity; `undefined` when there is nothing at the path
 * @throws GitError `worktree-replaced`
 */
export function verifyDirectory(path: string, recorded?: WorktreeIdentity): WorktreeIdentity | undefined {
  if (!isAbsolute(path) || /[\n\0]/.test(path)) {
    throw new GitError('not-a-repository', `${JSON.stringify(path)} is not an absolute path.`);
  }
  try {
    const parent = dirname(path);
    if (realpathSync.native(parent) !== parent) {
      throw replaced(path, 'a directory on the way is a symbolic link');
    }
    const identity = identityAt(path);
    if (identity && recorded && !isSame(path, recorded, identity)) {
      throw replaced(path, 'it was replaced by another directory');
    }
    return identity;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error instanceof GitError ? error : replaced(path, (error as Error).message);
  }
}

/** Whether nothing is at a path, for certain. @throws where it cannot be inspected */
export const isGone = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) === undefined;

/** More than HEAD has, in bytes. */
const longestHead = 8_192;

/** What git takes for the HEAD of a repository. */
const validHead = /^(?:ref:\s*refs\/|[0-9a-f]{40})/;

/** Why git cannot use an administrative directory; `undefined` unless that is certain: what is unreadable now may be whole. */
export function administrationDamage(gitDir: string): string | undefined {
  if (isGone(gitDir)) {
    return `${gitDir} is gone`;
  }
  const head = join(gitDir, 'HEAD');
  const facts = lstatSync(head, { throwIfNoEntry: false });
  if (!facts?.isFile()) {
    return facts?.isSymbolicLink() === true ? undefined : `${head} is ${facts ? 'not a file' : 'gone'}`;
  }
  const content = readPlainFile(head, { most: longestHead })?.toString('latin1');
  return content === undefined || validHead.test(content) ? undefined : `${head} names no branch and no commit`;
}

/**
 * Makes sure that a directory is the administrative one of the worktree at a path, as `git worktree add` leaves it: below
 * `worktrees/` of its repository, leading back to the worktree, and without a symbolic link that git would write through.
 *
 * @throws GitError `worktree-replaced`, `not-a-repository` when it is gone
 */
export function verifyAdministration(gitDir: string, path: string): void {
  try {
    if (realpathSync.native(gitDir) !== gitDir || basename(dirname(gitDir)) !== 'worktrees') {
      throw replaced(path, `${gitDir} is not an administrative directory of a repository`);
    }
    const links = readdirSync(gitDir, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    // What was found instead of a `.git` is left unchanged.
    const link = links.find(({ name }) => !/^replaced-\d+$/.test(name));
    if (link) {
      throw replaced(path, `${join(gitDir, link.name)} is a symbolic link`);
    }
    if (readPath(join(gitDir, 'gitdir')) !== join(path, '.git')) {
      throw replaced(path, `${gitDir} belongs to another worktree`);
    }
    const damage = administrationDamage(gitDir);
    if (damage !== undefined) {
      throw replaced(path, damage);
    }
  } catch (error) {
    if (error instanceof GitError) {
      throw error;
    }
    throw new GitError('not-a-repository', `${gitDir}, which ${path} belongs to, is gone or damaged.`);
  }
}
