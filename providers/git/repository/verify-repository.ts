import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lentDirectory } from '../../sandbox/lent-branch';
import { GitError } from '../git-error';
import type { RepositoryLocation } from '../settings/repository-location';

/** The most files of references and their logs that are checked. */
const most = 200_000;

/** Commands that write neither objects nor references. */
const reading: ReadonlySet<string> = new Set([
  'cat-file',
  'config',
  'diff-tree',
  'for-each-ref',
  'log',
  'ls-files',
  'ls-remote',
  'ls-tree',
  'merge-base',
  'remote',
  'rev-list',
  'rev-parse',
  'status',
]);

/** Whether a command may write to the repository. */
export const writesToRepository = ([command = '', what]: readonly string[]): boolean =>
  !reading.has(command) && !(command === 'worktree' && what === 'list');

const refused = (path: string): GitError =>
  new GitError(
    'repository-diverted',
    `${path} is a symbolic link, through which git would write; put a directory in its place.`,
  );

/**
 * Makes sure that what git writes to a repository stays in it: an agent can put symbolic links instead of directories
 * of references, logs and objects. The file of a reference may be a link, because git replaces it by its own.
 *
 * @throws GitError `repository-diverted`, `conflict` when it cannot be inspected
 */
export function verifyRepository({ commonDir, gitDir }: Pick<RepositoryLocation, 'commonDir' | 'gitDir'>): void {
  for (const name of writtenIn) {
    refuseLink(join(commonDir, name));
  }
  refuseLinks(join(commonDir, 'objects'), { deep: false });
  refuseLinks(join(commonDir, 'refs'), { deep: true, replaced: true });
  refuseLinks(join(commonDir, 'reftable'), { deep: false });
  refuseLinks(join(commonDir, 'logs'), { deep: true });
  refuseLinks(join(commonDir, 'worktrees'), { deep: false });
  if (gitDir !== commonDir) {
    for (const name of ownDirectories) {
      refuseLinks(join(gitDir, name), { deep: true });
    }
  }
}

/** What git and we write to in the directory of a repository. */
const writtenIn = [
  ...['objects', 'refs', 'reftable', 'logs', 'worktrees', 'packed-refs', 'shallow', 'index'],
  ...['board', 'board/set-aside', lentDirectory],
];

/** Directories of a worktree's own that git writes to. */
const ownDirectories = ['logs', 'refs', 'rebase-merge', 'rebase-apply', 'sequencer'];

function refuseLink(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw refused(path);
  }
}

/**
 * @param options.deep with everything below it
 * @param options.replaced whether links to files are no danger
 */
function refuseLinks(root: string, options: { deep: boolean; replaced?: boolean }): void {
  const pending = [root];
  let seen = 0;
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of entriesOf(directory)) {
      seen += 1;
      if (seen > most) {
        throw new GitError('conflict', `${root} holds more than ${most} files.`);
      }
      const path = join(directory, entry.name);
      if (entry.isSymbolicLink() && !(options.replaced === true && leadsToFile(path))) {
        throw refused(path);
      }
      if (options.deep && entry.isDirectory()) {
        pending.push(path);
      }
    }
  }
}

/**
 * Not those of `plain-file.ts`, which leaves to git what it cannot list: this decides whether git may run. What cannot be listed is
 * refused with its reason, and a file is no danger, such as the branch `a` where `a/b` was when its directory was listed.
 */
function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Git removes directories that have become empty at any time.
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return [];
    }
    throw new GitError('conflict', `${directory} cannot be read: ${(error as Error).message}`);
  }
}

/** A branch that a sandbox has is a link to its file, which the agent may have removed. */
function leadsToFile(path: string): boolean {
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    return facts ? facts.isFile() : readlinkSync(path).includes(`../${lentDirectory}/`);
  } catch {
    return false;
  }
}
