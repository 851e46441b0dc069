import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { GitError } from '../git-error';

/** Resolves symbolic links as far as the path exists. */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) {
      throw error;
    }
    return join(await resolveExisting(parent), basename(path));
  }
}

/**
 * A path as git records it: absolute, the symbolic links of its parents resolved. Its last part stays as it is, so that
 * a link there is seen as what it is.
 *
 * @throws GitError `outside` for a path that is not absolute
 */
export async function recordedPath(path: string): Promise<string> {
  if (!isAbsolute(path) || /[\n\0]/.test(path) || basename(path) === '..') {
    throw new GitError('outside', `${JSON.stringify(path)} is not an absolute path.`);
  }
  const clean = normalize(path).replace(/(?<=.)\/$/, '');
  return join(await resolveExisting(dirname(clean)), basename(clean));
}

/** The recorded path of something that is inside a directory, whatever is there. @throws GitError `outside` */
export async function pathInside(path: string, insideDir: string): Promise<string> {
  const recorded = await recordedPath(path);
  const directory = await resolveExisting(normalize(insideDir));
  if (!isAbsolute(insideDir) || !recorded.startsWith(directory.endsWith(sep) ? directory : directory + sep)) {
    throw new GitError('outside', `${path} is not inside ${insideDir}.`);
  }
  return recorded;
}

/** The same of something that is no symbolic link. @throws GitError `outside` */
export async function safePath(path: string, insideDir: string): Promise<string> {
  const recorded = await pathInside(path, insideDir);
  const facts = await lstat(recorded).catch(() => undefined);
  if (facts && !facts.isDirectory()) {
    throw new GitError('outside', `${path} is not a directory of its own.`);
  }
  return recorded;
}
