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
    `Another operation runs on this worktree: ${operation?.kind ?? state}, begun by ${operation?.actor ?? 'nobody'}.`,
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

/** The fetch from the remote failed; names how to continue without it. */
export const fetchFailed = (taskId: string, reason: string): Refusal =>
  refusal(
    'WORKTREE_FETCH_FAILED',
    `The base could not be fetched: ${reason} To create the worktree from what was fetched last, send ` +
      '{"allowStaleBase": true, "staleBaseAcknowledgement": {"reason": "…"}}.',
    { taskId, reason },
  );
