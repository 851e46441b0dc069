import { readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { clampToWorktree } from '../../domain/contract/path-scope';
import { matchesGlob } from '../../domain/routing/glob';
import { SandboxError } from './sandbox-error';

/** Whether a path is the directory, or in it. */
export const isInside = (path: string, directory: string): boolean => {
  const below = relative(directory, path);
  return below === '' || (!below.startsWith('../') && below !== '..' && !isAbsolute(below));
};

/** Where a path leads: links are followed as far as it exists, and the rest is taken as it is written. */
export async function realLocation(path: string): Promise<string> {
  for (let existing = path, rest = ''; ;) {
    try {
      return join(await realpath(existing), rest);
    } catch {
      if (existing === dirname(existing)) {
        return path;
      }
      rest = join(relative(dirname(existing), existing), rest);
      existing = dirname(existing);
    }
  }
}

/** A path of a preset as an absolute one: relative ones are of the worktree. */
export function absolutePath(path: string, worktree: string): string {
  const scope = clampToWorktree(path, worktree);
  if (scope !== undefined) {
    return resolve(worktree, scope);
  }
  return resolve(worktree, path.replace(/(?:\/\*{1,2})+$/, '') || '/');
}

export const isPattern = (path: string): boolean => /[*?]/.test(path.replace(/(?:\/\*{1,2})+$/, ''));

/** How many files and directories of a worktree are searched for names that a preset hides. */
const mostEntries = 400_000;

/** Paths of a worktree, relative to it, that a function selects; git's own directory and what was selected are not entered. */
export async function searchWorktree(
  worktree: string,
  selects: (path: string, name: string) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  let entries = 0;
  const pending = ['.'];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of await readdir(join(worktree, directory), { withFileTypes: true }).catch(() => [])) {
      const path = join(directory, entry.name);
      if ((entries += 1) > mostEntries) {
        throw new SandboxError(`The worktree has more than ${mostEntries} files: names in it cannot be hidden.`);
      }
      if (path === '.git') {
        continue;
      }
      if (selects(path, entry.name)) {
        found.push(path);
      } else if (entry.isDirectory()) {
        pending.push(path);
      }
    }
  }
  return found;
}

/** Whether a path of the worktree is one that a pattern of a preset names. */
export const matchesPattern = (path: string, pattern: string, worktree: string): boolean => {
  const scope = clampToWorktree(pattern, worktree);
  return scope !== undefined && matchesGlob(scope, path);
};
