import { accessSync, closeSync, constants, openSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** The most a file of git's may hold that names one path, in bytes. */
const longestBytes = 8_192;

/**
 * Finds a linked worktree where git records it (gitrepository-layout(5)), which saves the process that would be asked. It has
 * to be in every way as `git worktree add` leaves it; about all others, and damaged ones, git is to be asked.
 *
 * @returns `undefined` when git is to be asked
 */
export function readLinkedWorktree(
  worktreePath: string,
): { path: string; gitDir: string; commonDir: string } | undefined {
  try {
    const path = realPath(worktreePath);
    const link = join(path, '.git');
    const linkedDir = readPath(link, 'gitdir: ');
    if (!linkedDir || !isAbsolute(linkedDir)) {
      return undefined;
    }
    const gitDir = realPath(linkedDir);
    const [back, common] = ['gitdir', 'commondir'].map((name) => readPath(join(gitDir, name)));
    if (!back || !common || realPath(back) !== link) {
      return undefined;
    }
    const commonDir = realPath(resolve(gitDir, common));
    const needed = [join(gitDir, 'HEAD'), ...['HEAD', 'objects', 'refs'].map((name) => join(commonDir, name))];
    for (const file of needed) {
      accessSync(file);
    }
    return { path, gitDir, commonDir };
  } catch {
    return undefined;
  }
}

/** The path in a small file of git's. An agent may have replaced the file by anything: a pipe is not waited for. */
export function readPath(file: string, prefix = ''): string | undefined {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(longestBytes);
    const bytesRead = readSync(handle, buffer, 0, longestBytes, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    const line = text.slice(prefix.length, -1);
    return text === `${prefix}${line}\n` && !line.includes('\n') && bytesRead < longestBytes ? line : undefined;
  } finally {
    closeSync(handle);
  }
}

const realPath = realpathSync.native;
