import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { lstat, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

/** Files that are larger are not read to find out what they are, in bytes. */
const readableBytes = 16 * 1_048_576;

/** The name of the object that git makes of this content, as it is. @param like an object of the repository */
function blobName(content: Buffer, like: string): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}

/**
 * The object git would make of the current content of a worktree's file; `null` when there is no such file, `undefined` when
 * that is unknown: it is a directory, lies behind a link to elsewhere, or is too large.
 *
 * @param path as `pathInWorktree` returns it
 * @param like an object of the repository, which shows how objects are named in it
 */
export async function fileObject(worktreePath: string, path: string, like: string): Promise<string | null | undefined> {
  const file = join(worktreePath, path);
  try {
    const [root, parent] = await Promise.all([realpath(worktreePath), realpath(dirname(file))]);
    // A link instead of the worktree leads out of it.
    if (root !== worktreePath) {
      return undefined;
    }
    if (parent !== root && !parent.startsWith(root + sep)) {
      return undefined;
    }
    const facts = await lstat(file);
    if (facts.size > readableBytes || !(facts.isFile() || facts.isSymbolicLink())) {
      return undefined;
    }
    return blobName(facts.isFile() ? await readFile(file) : await readlink(file, { encoding: 'buffer' }), like);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : undefined;
  }
}

/**
 * The object of the content of a regular file, without the programs that a repository may name for conversion;
 * `undefined` when it is too large, or not a file any more. Read synchronously, which takes microseconds for what people write.
 *
 * @param file without links in its path
 */
export function contentObject(file: string, like: string): string | undefined {
  try {
    // A link or a pipe may have replaced it since it was found: neither is followed, nor waited for.
    const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(handle);
      return facts.isFile() && facts.size <= readableBytes ? blobName(readFileSync(handle), like) : undefined;
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}
