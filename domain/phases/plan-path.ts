/**
 * What is wrong with the path of a plan file, if anything: it is relative to the worktree, stays in it, and is no file of
 * git's.
 */
export function planPathProblem(path: string): string | undefined {
  if (path.length > 512) {
    return 'is longer than 512 characters';
  }
  if (/[\u0000-\u001f\u007f\\*?]/.test(path)) {
    return 'contains control characters, backslashes or wildcards';
  }
  const parts = path.split('/');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) {
    return 'is absolute';
  }
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return 'is not in its shortest form, or climbs';
  }
  // Git on a file system that ignores case, or trailing dots and spaces, takes these for its own directory.
  if (parts.some((part) => /^(\.git|git~\d+)[ .]*$/i.test(part))) {
    return 'is in a directory of git';
  }
  return undefined;
}
