import { constants } from 'node:fs';
import { access, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { WorktreeLocation } from './worktree-location';

/** The most a file of git's may hold that names one path, in bytes. */
const longestBytes = 8_192;

/**
 * Finds a linked worktree where git keeps it (gitrepository-layout(5)), which saves the process that would be asked. It has
 * to be in every way as `git worktree add` leaves it; about all others, and damaged ones, git is to be asked.
 *
 * @returns `undefined` when git is to be asked
 */
export async function readLinkedWorktree(worktreePath: string): Promise<WorktreeLocation | undefined> {
  try {
    const path = await realpath(worktreePath);
    const link = join(path, '.git');
    const named = await readPath(link, 'gitdir: ');
    if (!named || !isAbsolute(named)) return undefined;
    const gitDir = await realpath(named);
    const [back, common] = await Promise.all([readPath(join(gitDir, 'gitdir')), readPath(join(gitDir, 'commondir'))]);
    if (!back || !common || (await realpath(back)) !== link) return undefined;
    const commonDir = await realpath(resolve(gitDir, common));
    const needed = [join(gitDir, 'HEAD'), ...['HEAD', 'objects', 'refs'].map((name) => join(commonDir, name))];
    await Promise.all(needed.map((file) => access(file)));
    // Its own configuration could say that its files are somewhere else.
    return (await isThere(join(gitDir, 'config.worktree'))) ? undefined : { path, gitDir, commonDir };
  } catch {
    return undefined;
  }
}

/** The path that a small file of git's holds. An agent may have put anything in its place: a pipe is not waited for. */
async function readPath(file: string, prefix = ''): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(longestBytes), 0, longestBytes, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    const line = text.slice(prefix.length, -1);
    return text === `${prefix}${line}\n` && !line.includes('\n') && bytesRead < longestBytes ? line : undefined;
  } finally {
    await handle.close();
  }
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
