import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Refusal } from '../../contracts/refusal';
import type { LaunchOrigin } from '../../contracts/runs/admission';
import type { ApprovalStatus } from '../../contracts/runs/approval';
import type { AgentCommandType, CommandResponse } from '../../contracts/runs/command';
import type { CompletionStatus } from '../../contracts/runs/completion';
import type { ConversationSource } from '../../contracts/runs/conversation';
import type { LaunchOutcome, LaunchRequest } from '../../contracts/runs/launch/launch';
import type { PhaseNotice } from '../../domain/phases/notice';
import type { Signed } from '../message-proofs';

/** The business id of an attempt's workflow: starting it twice is one run. */
export const agentRunId = (attemptId: string): string => `run/${attemptId}`;

/** The update id of a launch, so that a repeated request receives the outcome of the first. */
export const launchUpdateId = 'launch';

/** Bounds of one run, in milliseconds; settings, shortened by tests. */
export interface RunTimings {
  runTimeoutMs: number;
  heartbeatTimeoutMs: number;
  retryBackoffMs: number;
}

/** A launch by a caller of the API is signed; every other one is read from the stores, whatever this input claims. */
export interface AgentRunInput extends Signed {
  attemptId: string;
  taskId: string;
  request: LaunchRequest;
  actor: string;
  timings: RunTimings;
  maxRetries: number;
  /** Set when the run has a message: it continues the session of an earlier attempt, or begins one. The rest is in the stores. */
  conversation?: { documentId: string } & Pick<ConversationSource, 'edge' | 'sourceAttemptId'>;
  /** Set on a retry: the attempt it follows, and its position in the chain. */
  retry?: { parentAttemptId: string; rootAttemptId: string; retryNumber: number };
  /** The origin of the launch; absent for a launch by a caller of the API, and for a retry. */
  origin?: LaunchOrigin;
  /** The workspace it is counted in. */
  workspaceId?: string;
  /** Set when the attempt was orphaned, and this workflow adopts it. */
  found?: OrphanedRun;
}

/** An attempt whose workflow was lost or terminated, as the stores have it. */
export interface OrphanedRun {
  /** Resumes the launch, waits for the report of an agent elsewhere, or ends as interrupted. */
  next: 'launch' | 'callback' | 'end';
  /** An operator ended the workflow: the agent's supervisor is not waited for. */
  terminated: boolean;
  /** Whether it was dispatched to its agent, whose end is not recorded. */
  dispatched: boolean;
  /** Whether its agent may have outlived its worker, to be reattached. */
  reattach?: boolean;
  hostId: string | null;
  agent: string;
  provider: string;
  phase: string;
  launch?: LaunchOutcome;
}

/** Signed by the API for its caller; without a proof it is an operator's, whatever name it claims. */
export interface StopInput extends Signed {
  attemptId: string;
  actor: string;
}

export interface CompleteInput {
  attemptId: string;
  claimDigest: string;
}

/** The end of a remote run as an operator gives it in the Temporal UI, when its agent cannot report any more. */
export interface OperatorCompletion {
  attemptId: string;
  status: CompletionStatus;
  summary: string;
  actor: string;
}

/**
 * A command to the agent of a run. One of a caller of the API is stored with its sender before it is sent; any other one is an
 * operator's.
 */
export interface CommandInput {
  attemptId: string;
  type: AgentCommandType;
  /** For `message` and `steer`. Absent when the command with this id is in the stores already. */
  message?: string;
  actor: string;
  /** Who sent it, where that is proven; the actor when absent. */
  sentBy?: string;
  /** The id of the update when absent. The same one again is the same command. */
  commandId?: string;
  /** Compared with the run's own when present. */
  providerRuntimeManifestDigest?: string;
  runLaunchManifestDigest?: string;
}

/** Why a command was refused; `details` are evidence for machines. */
export interface CommandRefusal {
  code: string;
  message: string;
  details: Record<string, unknown>;
}

export interface RunEnd {
  attemptId: string;
  status: string;
  endedAt: string;
}

/** What the workflow of a run returns. */
export interface RunResult extends RunEnd {
  /** Of a launch that was refused, for a caller whose request was lost; absent from earlier versions. */
  refusal?: Refusal;
}

/** Resolves once the launch is decided: running with its contract stored, queued, or refused. */
export const launchUpdate = defineUpdate<LaunchOutcome>('launch');
/** Stops the run and resolves once its end is recorded. */
export const stopUpdate = defineUpdate<RunEnd, [StopInput]>('stop');
/** Delivers the terminal claim of a remote agent, or an operator's instead, and resolves once it is recorded. */
export const completeUpdate = defineUpdate<RunEnd, [CompleteInput | OperatorCompletion]>('complete');
/** Sends a command to the agent and returns its outcome: delivered, or not, and why. */
export const commandUpdate = defineUpdate<CommandResponse, [CommandInput]>('command');
/** Capacity has been reserved for this queued attempt, or its queue entry has changed. */
export const capacityReserved = defineSignal('capacityReserved');

/** A request for approval of this run was made, or is no longer pending. */
export const approvalChanged = defineSignal<[{ approvalId: string; status: ApprovalStatus }]>('approvalChanged');

/** A change of the run's permissions: its phase, the number of the change, and the message to the agent. */
export const phaseChanged = defineSignal<[PhaseNotice]>('phaseChanged');

/** Failure types a validator rejects an update with. */
export const staleAttempt = 'STALE_ATTEMPT';
export const notRemote = 'NOT_REMOTE_CALLBACK';
export const conflictingClaim = 'CONFLICTING_CLAIM';
export const unknownClaim = 'CLAIM_UNKNOWN';
export const runEnded = 'RUN_ENDED';
export const notRunning = 'RUN_NOT_RUNNING';
export const manifestMismatch = 'MANIFEST_MISMATCH';
export const capabilityUnsupported = 'CAPABILITY_UNSUPPORTED';
export const tooManyCommands = 'TOO_MANY_COMMANDS';
export const invalidCommand = 'INVALID_COMMAND';
export const invalidCompletion = 'INVALID_COMPLETION';
