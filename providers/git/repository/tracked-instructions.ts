import { statSync } from 'node:fs';
import { join } from 'node:path';
import { nestedInstructions } from '../../../domain/workspaces/trusted-files';
import { gitFields, type GitRunner } from '../run-git';
import type { WorktreeLocation } from '../worktrees/worktree-location';

/** The most worktrees that are remembered. */
const most = 1_000;

/** An index that was changed less than this before it was inspected could change again unnoticed, in milliseconds. */
const settledMs = 1_000;

/** The paths of the instructions in the index of a worktree. */
export type TrackedInstructions = (location: Pick<WorktreeLocation, 'path' | 'gitDir'>) => Promise<readonly string[]>;

/**
 * Lists instructions that are tracked, and remembers them until the index is another file: git never changes one, but
 * replaces it by a new one. A write into it all the same shows in the time of its change, which cannot be
 * set.
 */
export function trackedInstructions(git: GitRunner): TrackedInstructions {
  const byCommit = new Map<string, { index: string; paths: readonly string[] }>();
  const patterns = nestedInstructions.map((name) => `:(top,glob)**/${name}`);

  return async ({ path, gitDir }) => {
    // Inspected first: what is listed may be newer, but never older.
    const index = identityOf(join(gitDir, 'index'));
    const remembered = byCommit.get(gitDir);
    if (remembered && remembered.index === index) {
      return remembered.paths;
    }
    const paths = await gitFields(git, ['ls-files', '-z', '--cached', '--', ...patterns], { cwd: path });
    byCommit.delete(gitDir);
    if (index !== undefined) {
      byCommit.set(gitDir, { index, paths });
    }
    for (const oldest of byCommit.keys()) {
      if (byCommit.size <= most) {
        break;
      }
      byCommit.delete(oldest);
    }
    return paths;
  };
}

/** Which file this is, and of when; `undefined` when there is none, or it is too new to be certain. */
function identityOf(file: string): string | undefined {
  const facts = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (!facts || Date.now() - Number(facts.ctimeMs) < settledMs) {
    return undefined;
  }
  return [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ');
}
