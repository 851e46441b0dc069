import { ApplicationFailure } from '@temporalio/common';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorktreeState } from '../../contracts/worktree';
import type { WorktreeRequest } from '../../contracts/worktree-request';
import type { Signed } from '../../workflows/message-proofs';
import type { WorktreeTarget } from './plan';

/** An operation as it was planned, which its proof says, under the id it is known by from now on. */
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

/** Where the worktree is afterwards; at rest when there is nothing to do. */
export type Begun = { state: WorktreeState } | LaunchRefusal;

/** What a workflow sends only by mistake. */
export const missingTarget = (): ApplicationFailure =>
  ApplicationFailure.nonRetryable('There is nothing to make a worktree of.', 'TARGET_MISSING');
