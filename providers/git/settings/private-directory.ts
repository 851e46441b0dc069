import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asOperator } from '../../../platform/processes/operator-umask';

/** The parts of a repository that are linked: everything that is data. Configuration and hooks are not among them. */
const linked = [
  'HEAD',
  'objects',
  'refs',
  'reftable',
  'packed-refs',
  'logs',
  'worktrees',
  'info',
  'shallow',
  'modules',
  'lfs',
  // They show git that a branch of the primary checkout is in the middle of something.
  'rebase-merge',
  'rebase-apply',
  'BISECT_START',
] as const;

/** Where the private directory of a repository is. */
export const privateDirectory = (settingsDir: string, commonDir: string): string =>
  join(settingsDir, createHash('sha256').update(commonDir).digest('hex').slice(0, 32));

/** Makes a directory of the operator's repository as the operator's git would. */
export const makeShared = (path: string): string | undefined => asOperator(() => mkdirSync(path, { recursive: true }));

/** Writes a file that is either the former one or the new one at any time; no other user can read it. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The same, unless that is what the file holds. */
export async function ensureFile(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) !== content) {
    await replaceFile(path, content);
  }
}

/**
 * Makes the directory that git takes for the repository's own (`GIT_COMMON_DIR`): links to its data, without its
 * configuration and hooks. Making it again changes nothing.
 *
 * @param writable whether git may write through the links; else nothing is made in the repository
 */
export async function linkRepository(
  directory: string,
  commonDir: string,
  { writable }: { writable: boolean },
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Git makes these when they are first needed, which it cannot do through a link that leads nowhere.
  for (const name of writable ? ['logs', 'worktrees'] : []) {
    makeShared(join(commonDir, name));
  }
  for (const name of linked) {
    const link = join(directory, name);
    if (lstatSync(link, { throwIfNoEntry: false })) {
      continue;
    }
    try {
      symlinkSync(join(commonDir, name), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
  }
}
