import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { LaunchOutcome, LaunchRequest } from '../../contracts/launch';

/** The business id of an attempt's workflow: starting it twice is one run. */
export const agentRunId = (attemptId: string): string => `run/${attemptId}`;

/** The update id of a launch, so that a repeated request hears the outcome of the first. */
export const launchUpdateId = 'launch';

/** Bounds of one run, in milliseconds; settings, shortened by tests. */
export interface RunTimings {
  runTimeoutMs: number;
  heartbeatTimeoutMs: number;
  retryBackoffMs: number;
}

export interface AgentRunInput {
  attemptId: string;
  taskId: string;
  request: LaunchRequest;
  actor: string;
  timings: RunTimings;
  maxRetries: number;
  /** Set on a retry: the attempt it follows, and its place in the chain. */
  retry?: { parentAttemptId: string; rootAttemptId: string; retryNumber: number };
}

export interface StopInput {
  attemptId: string;
  actor: string;
}

export interface CompleteInput {
  attemptId: string;
  claimDigest: string;
}

export interface RunEnd {
  attemptId: string;
  status: string;
  endedAt: string;
}

/** Answers once the launch is decided: running with its contract stored, queued, or refused. */
export const launchUpdate = defineUpdate<LaunchOutcome>('launch');
/** Stops the run and answers once its end is recorded. */
export const stopUpdate = defineUpdate<RunEnd, [StopInput]>('stop');
/** Hands in the terminal claim of a remote agent and answers once it is recorded. */
export const completeUpdate = defineUpdate<RunEnd, [CompleteInput]>('complete');
/** Capacity has been reserved for this queued attempt. */
export const capacityReserved = defineSignal('capacityReserved');

/** Failure types a validator rejects an update with. */
export const staleAttempt = 'STALE_ATTEMPT';
export const notRemote = 'NOT_REMOTE_CALLBACK';
export const conflictingClaim = 'CONFLICTING_CLAIM';
export const runEnded = 'RUN_ENDED';
