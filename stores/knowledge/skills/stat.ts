import { lstat } from 'node:fs/promises';

/** What is at a path itself; `undefined` when there is nothing. */
export async function statNoFollow(path: string): Promise<'file' | 'directory' | 'link' | undefined> {
  try {
    const stats = await lstat(path);
    return stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}
