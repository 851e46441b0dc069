import { defineUpdate } from '@temporalio/workflow';
import type { LaunchRefusal } from '../../contracts/launch';
import type { WorktreeInspection, WorktreeOperationKind } from '../../contracts/worktree';
import type { WorktreeRequest } from '../../contracts/worktree-request';
import type { Signed } from '../message-proofs';

/** One execution per operation, one at a time per task: the id is the lock. */
export const worktreeId = (taskId: string): string => `worktree/${taskId}`;

/** What the API starts is signed; what a run does, or finishes, is read from the stores. */
export interface WorktreeInput extends Signed {
  taskId: string;
  actor: string;
  /** What to do; `null` only finishes what was interrupted, and takes the first request that arrives meanwhile. */
  request: WorktreeRequest | null;
  operationId?: string;
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

/** An operation, signed by the API like the start of its workflow. */
export interface AskedFor extends Signed {
  request: WorktreeRequest;
  actor: string;
  /** What the API calls it: sent again, it is the same one. Left out by what a run does, and by earlier versions. */
  operationId?: string;
}

/** Asks for an operation and answers how it ended; the same one asked for twice is one. */
export const operateUpdate = defineUpdate<WorktreeOutcome, [AskedFor]>('operate');

/** The failure type another operation is rejected with; its first detail is a `RunningOperation`. */
export const worktreeBusy = 'WORKTREE_BUSY';
