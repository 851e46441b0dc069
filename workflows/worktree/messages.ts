import { defineUpdate } from '@temporalio/workflow';
import type { Refusal } from '../../contracts/refusal';
import type { WorktreeRequest } from '../../contracts/runs/worktrees/request';
import type { WorktreeInspection, WorktreeOperationKind } from '../../contracts/runs/worktrees/worktree';
import type { Signed } from '../message-proofs';

/** One execution per operation, one at a time per task: the id is the lock. */
export const worktreeId = (taskId: string): string => `worktree/${taskId}`;

/** What the API starts is signed; what a run does, or finishes, is read from the stores. */
export interface WorktreeInput extends Signed {
  taskId: string;
  actor: string;
  /** The operation; `null` only finishes what was interrupted, and accepts the first request that arrives meanwhile. */
  request: WorktreeRequest | null;
  operationId?: string;
  /** The host a new worktree is made on; any live one when absent. */
  hostId?: string;
  /** How long a silent worker counts as alive, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** How an operation ended. `inspection`: the worktree at that time; absent when there was no request. */
export type WorktreeOutcome = { status: 'done'; inspection?: WorktreeInspection } | Refusal;

/** The operation that runs while another one is requested. */
export interface RunningOperation {
  kind: WorktreeOperationKind;
  actor: string;
}

/** An operation, signed by the API like the start of its workflow. */
export interface AskedFor extends Signed {
  request: WorktreeRequest;
  actor: string;
  /** The id that the API gives it: sent again, it is the same one. Absent from operations of a run, and of earlier versions. */
  operationId?: string;
}

/** Requests an operation and returns how it ended; repeated requests are one operation. */
export const operateUpdate = defineUpdate<WorktreeOutcome, [AskedFor]>('operate');

/** The failure type another operation is rejected with; its first detail is a `RunningOperation`. */
export const worktreeBusy = 'WORKTREE_BUSY';
