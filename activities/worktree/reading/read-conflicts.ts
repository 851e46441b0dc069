import type { Refusal } from '../../../contracts/refusal';
import type { ConflictRead, ConflictReading } from '../../../contracts/runs/conflict';
import { refusal } from '../../../domain/refusal';
import type { Git } from '../../../providers/git/git';
import { GitError, type GitErrorCode } from '../../../providers/git/git-error';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { placeOf } from '../record';
import { conflictNotFound, noWorktree } from '../refusals';

/** What git's refusals are to a caller. */
const codes: Partial<Record<GitErrorCode, string>> = {
  'not-a-repository': 'WORKTREE_NOT_FOUND',
  'repository-diverted': 'REPOSITORY_UNAVAILABLE',
  'worktree-replaced': 'WORKTREE_REPLACED',
  timeout: 'DIFF_TOO_LARGE',
};

/** Reads the conflicts in a worktree, or one file of them. Changes nothing. */
export async function readConflicts(
  { conflicts }: Git,
  record: WorktreeRecord,
  { taskId, read }: ConflictRead,
): Promise<ConflictReading | Refusal> {
  if (record.state === 'removed' || record.state === 'preparing') {
    return noWorktree(taskId);
  }
  try {
    return read.what === 'conflicts'
      ? { what: 'conflicts', state: await conflicts.list(placeOf(record)) }
      : { what: 'conflict', file: await conflicts.read(placeOf(record), read.path) };
  } catch (error) {
    if (!(error instanceof GitError)) {
      throw error;
    }
    return error.code === 'unknown-path' && read.what === 'conflict'
      ? conflictNotFound(taskId, { path: read.path, message: error.message })
      : refusal(codes[error.code] ?? 'CONFLICTS_UNAVAILABLE', error.message, { taskId });
  }
}
