import { defineUpdate } from '@temporalio/workflow';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorktreeInspection, WorktreeOperationKind } from '../../contracts/worktree';
import type { WorktreeRequest } from '../../contracts/worktree-request';

/** One execution per operation, one at a time per task: the id is the lock. */
export const worktreeId = (taskId: string): string => `worktree/${taskId}`;

export interface WorktreeInput {
  taskId: string;
  actor: string;
  /** What to do; `null` only finishes what was interrupted, and takes the first request that arrives meanwhile. */
  request: WorktreeRequest | null;
  /** The host a new worktree is made on; any live one when absent. */
  hostId?: string;
  /** How long a silent worker counts as alive, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** How an operation ended. `inspection`: the worktree as it was then; absent when nothing was asked. */
export type WorktreeOutcome = { status: 'done'; inspection?: WorktreeInspection } | LaunchRefusal;

/** What runs while another operation is asked for. */
export interface RunningOperation {
  kind: WorktreeOperationKind;
  actor: string;
}

export interface AskedFor {
  request: WorktreeRequest;
  actor: string;
}

/** Asks for an operation and answers how it ended; the same one asked for twice is one. */
export const operateUpdate = defineUpdate<WorktreeOutcome, [AskedFor]>('operate');

/** The failure type another operation is rejected with; its first detail is a `RunningOperation`. */
export const worktreeBusy = 'WORKTREE_BUSY';
