import { posix } from 'node:path';
import { matchesGlob } from '../routing/glob';

/** Names people write for the whole worktree. */
const wholeWorktree = new Set(['*', '**', '.', './', '/', 'workspace', 'worktree']);

/**
 * A path scope as a path relative to the worktree, `.` for all of it; `undefined` when no part of it lies inside.
 * A trailing wildcard means the directory before it.
 */
export function clampToWorktree(scope: string, worktreePath: string | null): string | undefined {
  const plain = scope.trim().replace(/(?:\/\*{1,2})+$/, '') || '/';
  if (wholeWorktree.has(plain)) {
    return '.';
  }
  if (!posix.isAbsolute(plain)) {
    const path = posix.normalize(plain).replace(/\/$/, '');
    if (isAbove(path)) {
      return '.';
    }
    return path.startsWith('../') ? undefined : path;
  }
  if (worktreePath === null) {
    return undefined;
  }
  const inside = posix.relative(worktreePath, posix.normalize(plain));
  if (inside === '' || isAbove(inside)) {
    return '.';
  }
  return inside.startsWith('../') ? undefined : inside;
}

/** `..`, `../..` and so on: a directory that holds the worktree. */
const isAbove = (relative: string): boolean => relative.split('/').every((part) => part === '..');

/** Whether a path of the worktree is the scope or lies in it. */
export const isWithin = (path: string, scope: string): boolean =>
  scope === '.' || path === scope || path.startsWith(`${scope}/`);

/** What several path scopes of the worktree and one more allow together. */
export const overlap = (scopes: readonly string[], scope: string): string[] =>
  scopes.flatMap((each) => {
    if (isWithin(each, scope)) {
      return [each];
    }
    return isWithin(scope, each) ? [scope] : [];
  });

/**
 * Whether a path of the worktree is one of the denied ones or lies in one. A denied path may hold wildcards (`*`, `?`, `**`);
 * one without a slash denies files and directories of that name at the top of the worktree only.
 */
export function isDenied(path: string, deniedPaths: readonly string[], worktreePath: string | null): boolean {
  return deniedPaths.some((denied) => {
    const scope = clampToWorktree(denied, worktreePath);
    if (scope === undefined) {
      return false;
    }
    return isWithin(path, scope) || (/[*?]/.test(scope) && parentsOf(path).some((part) => matchesGlob(scope, part)));
  });
}

/** Whether something denied may lie below a directory of the worktree. */
export const mayHoldDenied = (path: string, deniedPaths: readonly string[], worktreePath: string | null): boolean =>
  deniedPaths.some((denied) => {
    const scope = clampToWorktree(denied, worktreePath);
    if (scope === undefined) {
      return false;
    }
    const fixed = scope.replace(/(^|\/)[^/]*[*?].*$/, '');
    return path === '.' || isWithin(fixed, path) || (fixed !== scope && (fixed === '' || isWithin(path, fixed)));
  });

/** The path itself and every directory above it in the worktree. */
const parentsOf = (path: string): string[] => {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};
