import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git-error';
import { ensureFile } from './private-directory';

const fileOf = (settingsDir: string, path: string): string =>
  join(settingsDir, 'places', createHash('sha256').update(path).digest('hex').slice(0, 32));

/** Where the repository of a configured path was when it was set up; `undefined` for any other path. */
function readLocation(settingsDir: string, path: string): string | undefined {
  try {
    return readFileSync(fileOf(settingsDir, path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** Records where the repository of a configured path is. */
export async function recordLocation(settingsDir: string, path: string, commonDir: string): Promise<void> {
  await mkdir(join(settingsDir, 'places'), { recursive: true, mode: 0o700 });
  await ensureFile(fileOf(settingsDir, path), commonDir);
}

/**
 * Makes sure that a configured path has the repository that it had when it was set up: an agent can put a link to another
 * one, with remotes of its own, instead of `.git`.
 *
 * @returns whether the location is recorded
 * @throws GitError `repository-diverted`
 */
export function verifyLocation(settingsDir: string, path: string, commonDir: string): boolean {
  const recorded = readLocation(settingsDir, path);
  if (recorded === undefined || recorded === commonDir) {
    return recorded !== undefined;
  }
  throw new GitError(
    'repository-diverted',
    `The repository of ${path} was at ${recorded} when it was configured, and is now at ${commonDir}; restore it, or reread the repository.`,
  );
}
