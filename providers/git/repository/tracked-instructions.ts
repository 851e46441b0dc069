import { posix } from 'node:path';
import { nestedInstructions } from '../../../domain/workspaces/trusted-files';
import { readIndex } from '../files/index-file';
import type { GitRunner } from '../run-git';

const names: ReadonlySet<string> = new Set(nestedInstructions);

/** The paths of the instructions in the index of a worktree. */
export async function trackedInstructions(git: GitRunner, worktreePath: string): Promise<string[]> {
  const paths = (await readIndex(git, worktreePath)).map(({ path }) => path);
  return [...new Set(paths.filter((path) => names.has(posix.basename(path))))];
}
