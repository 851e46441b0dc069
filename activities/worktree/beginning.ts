import { ApplicationFailure } from '@temporalio/common';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorktreeState } from '../../contracts/worktree';
import type { WorktreeRequest } from '../../contracts/worktree-request';
import type { WorktreeTarget } from './plan';

/** An operation as it is asked for, under the id it is known by from now on. */
export interface Beginning {
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
