import type { Refusal } from '../../contracts/refusal';
import { refusal } from '../../domain/refusal';
import type { WorktreeRecord } from '../../stores/runs/workspaces/worktree-store';

/** No worktree, and what to do about it. */
export const noWorktree = (taskId: string, legacyPath?: string): Refusal =>
  refusal(
    'WORKTREE_NOT_FOUND',
    legacyPath === undefined
      ? `The task has no worktree; create it with POST /api/tasks/${taskId}/worktree.`
      : `The task names the worktree ${legacyPath} without a manifest; adopt it with POST /api/tasks/${taskId}/worktree/adopt.`,
    { taskId },
  );

/** Another operation is in the middle of the worktree. */
export const busy = ({ taskId, state, operation, recoverable }: WorktreeRecord): Refusal =>
  refusal(
    'WORKTREE_BUSY',
    `Another operation runs on this worktree: ${operation?.kind ?? state}, begun by ${operation?.actor ?? 'an unknown caller'}.`,
    { taskId, state, operation, recoverable },
  );

/** A run uses the worktree. */
export const inUse = (taskId: string, attemptId: string): Refusal =>
  refusal('WORKTREE_IN_USE', `The attempt ${attemptId} uses this worktree; wait for its end or stop it.`, {
    taskId,
    attemptId,
  });

/** The caller inspected another commit than the worktree is at. */
export const headMoved = (taskId: string, expectedHead: string, head: string | null): Refusal =>
  refusal('WORKTREE_HEAD_MOVED', 'The worktree is at another commit than expected; read it again.', {
    taskId,
    expectedHead,
    head,
  });

/** A rebase, merge or the like is in the middle of the worktree. */
export const unfinished = (taskId: string, { operation, dirty }: { operation: string; dirty: number }): Refusal =>
  refusal('WORKTREE_DIRTY', `A ${operation} is unfinished in the worktree; continue or abort it first.`, {
    taskId,
    dirty,
    operation,
  });

/** A rebase waits for a person to resolve its conflicts. */
export const conflicted = ({ _id: taskId, conflict }: WorktreeRecord): Refusal =>
  refusal(
    'WORKTREE_CONFLICTED',
    `A rebase by ${conflict?.actor ?? 'a person'} has stopped at conflicts in the worktree; continue or abort it first.`,
    { taskId, conflict },
  );

/** Files are in conflict still. */
export const unresolved = (taskId: string, paths: readonly string[]): Refusal =>
  refusal('CONFLICTS_UNRESOLVED', `${paths.length} files are in conflict still.`, { taskId, paths });

/** A file is not, or no more, in conflict. */
export const conflictNotFound = (taskId: string, { path, message }: { path: string; message: string }): Refusal =>
  refusal('CONFLICT_NOT_FOUND', message, { taskId, path });

/** No rebase or merge has stopped. */
export const nothingInProgress = (taskId: string, ended: boolean): Refusal =>
  refusal(
    'NOTHING_IN_PROGRESS',
    ended
      ? 'The rebase is not in progress any more: it was finished or aborted with git. Runs can start again.'
      : 'No rebase or merge is in progress in the worktree.',
    { taskId },
  );

/** What is not committed would be left out, or be in the way. */
export const uncommitted = (taskId: string, { dirty, untracked }: { dirty: number; untracked: number }): Refusal =>
  refusal(
    'WORKTREE_DIRTY',
    `${dirty + untracked} files are not committed, ${untracked} of them new; commit them with ` +
      `POST /api/tasks/${taskId}/worktree/commit, merge with {"commit": true}, or discard them first.`,
    { taskId, dirty, untracked, operation: null },
  );

/** The branch has nothing that its base does not have. */
export function nothingToMerge(
  taskId: string,
  { branch, base, headSha, baseSha }: { branch: string; base: string; headSha: string; baseSha: string },
): Refusal {
  const message =
    `Nothing would be merged: ${base} has every commit of ${branch} already, and nothing is uncommitted. ` +
    `Work on the task first, with POST /api/agents/${taskId}/start say; to end it without a merge, set its status.`;
  return refusal('WORKTREE_NOTHING_TO_MERGE', message, { taskId, branch, base, headSha, baseSha });
}

/** There is nothing that is not committed. */
export const nothingToCommit = (taskId: string, headSha: string): Refusal =>
  refusal('WORKTREE_NOTHING_TO_COMMIT', 'Every change in the worktree is committed already.', { taskId, headSha });

/** The fetch from the remote failed; names how to continue without it. */
export const fetchFailed = (taskId: string, reason: string): Refusal =>
  refusal(
    'WORKTREE_FETCH_FAILED',
    `The base could not be fetched: ${reason} To create the worktree from what was fetched last, send ` +
      '{"allowStaleBase": true, "staleBaseAcknowledgement": {"reason": "…"}}.',
    { taskId, reason },
  );
