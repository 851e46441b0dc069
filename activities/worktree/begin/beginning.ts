import { ApplicationFailure } from '@temporalio/common';
import type { Refusal } from '../../../contracts/refusal';
import type { WorktreeRequest } from '../../../contracts/runs/worktrees/request';
import type { WorktreeState } from '../../../contracts/runs/worktrees/worktree';
import type { Signed } from '../../../workflows/message-proofs';
import type { WorktreeTarget } from '../plan';

/** An operation as it was planned, which its proof shows, under its id from now on. */
export interface Beginning extends Signed {
  taskId: string;
  operationId: string;
  actor: string;
  request: WorktreeRequest;
  target: WorktreeTarget | null;
}

/** What an operation begins with, whatever its kind. */
export interface Begin<R> {
  taskId: string;
  operation: { id: string; actor: string; startedAt: string };
  request: R;
}

/** The state of the worktree afterwards; at rest when there is nothing to do. */
export type Begun = { state: WorktreeState } | Refusal;

/** What a workflow sends only by mistake. */
export const missingTarget = (): ApplicationFailure =>
  ApplicationFailure.nonRetryable('The operation has no base for a worktree.', 'TARGET_MISSING');
