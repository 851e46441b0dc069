import type { LaunchRefusal } from '../../contracts/launch';
import { refusal } from '../../runs/refusal';
import type { WorktreeRecord } from '../../stores/worktree-store';

/** No worktree, and what to do about it. */
export const noWorktree = (taskId: string, legacyPath?: string): LaunchRefusal =>
  refusal(
    'WORKTREE_NOT_FOUND',
    404,
    legacyPath === undefined
      ? `The task has no worktree; create it with POST /api/tasks/${taskId}/worktree.`
      : `The task names the worktree ${legacyPath} without a manifest; adopt it with POST /api/tasks/${taskId}/worktree/adopt.`,
    { taskId },
  );

/** Another operation is in the middle of the worktree. */
export const busy = ({ taskId, state, operation, recoverable }: WorktreeRecord): LaunchRefusal =>
  refusal(
    'WORKTREE_BUSY',
    409,
    `Another operation runs on this worktree: ${operation?.kind ?? state}, begun by ${operation?.actor ?? 'nobody'}.`,
    { taskId, state, operation, recoverable },
  );

/** A run uses the worktree. */
export const inUse = (taskId: string, attemptId: string): LaunchRefusal =>
  refusal('WORKTREE_IN_USE', 409, `The attempt ${attemptId} uses this worktree; wait for its end or stop it.`, {
    taskId,
    attemptId,
  });

/** The caller looked at another commit than the worktree is at. */
export const headMoved = (taskId: string, expectedHead: string, head: string | null): LaunchRefusal =>
  refusal('WORKTREE_HEAD_MOVED', 409, 'The worktree is at another commit than expected; look again.', {
    taskId,
    expectedHead,
    head,
  });

/** The remote did not give its branch; says how to go on without it. */
export const fetchFailed = (taskId: string, reason: string): LaunchRefusal =>
  refusal(
    'WORKTREE_FETCH_FAILED',
    409,
    `The base could not be fetched: ${reason} To create the worktree from what was fetched last, send ` +
      '{"allowStaleBase": true, "staleBaseAcknowledgement": {"reason": "…"}}.',
    { taskId, reason },
  );
