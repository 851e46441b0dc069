import { join } from 'node:path';
import type { GitRunner } from '../run-git';
import type { Setting } from './entries';
import { factsOf, readPlainFile } from './plain-file';
import type { RepositoryLocation } from './repository-location';

/** Where a repository is, and its own settings as they were recorded. */
export interface RepositoryFiles extends RepositoryLocation {
  settings: readonly Setting[];
}

/**
 * Reads a part of the repository of a directory from its files, which saves the process that would be asked. References have to
 * be in files, names of objects those of SHA-1, as git has them by itself, and what git takes a repository by in order.
 *
 * @returns `undefined` when git is to be asked
 */
export async function fromFiles<T>(
  git: GitRunner,
  cwd: string,
  read: (files: RepositoryFiles) => T | undefined,
): Promise<T | undefined> {
  const settings = await git.repositories.recorded(cwd);
  git.assertHeld();
  const place = git.repositories.place(cwd);
  return isUsual(settings) && isSound(place) ? read({ ...place, settings }) : undefined;
}

const isUsual = (settings: readonly Setting[]): boolean =>
  !settings.some(([key]) => /^extensions\.(?:objectformat|compatobjectformat|refstorage)$/.test(key));

/** Git refuses a repository without one of them. */
function isSound({ gitDir, commonDir }: RepositoryLocation): boolean {
  const file = join(gitDir, 'HEAD');
  const head = factsOf(file)?.isFile() ? readPlainFile(file, { most: longestHead })?.toString('latin1') : undefined;
  const needed = ['objects', 'refs'].map((name) => factsOf(join(commonDir, name)));
  return /^(?:ref: refs\/[^\n]+|[0-9a-f]{40})\n$/.test(head ?? '') && needed.every((facts) => facts?.isDirectory());
}

/** More than the name of a reference has, in bytes. */
const longestHead = 8_192;
