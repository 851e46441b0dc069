import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AgentCommandType, CommandAnswer } from '../../contracts/agent-command';
import type { CompletionStatus } from '../../contracts/completion';
import type { ApprovalStatus } from '../../contracts/run-approval';
import type { LaunchOrigin } from '../../contracts/admission';
import type { ConversationEdge } from '../../contracts/conversation';
import type { PhaseNotice } from '../../runs/phases/notice';
import type { LaunchOutcome, LaunchRequest } from '../../contracts/launch';
import type { Signed } from '../message-proofs';

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

/** A launch by a caller of the API is signed; every other one is read from the stores, whatever this says of it. */
export interface AgentRunInput extends Signed {
  attemptId: string;
  taskId: string;
  request: LaunchRequest;
  actor: string;
  timings: RunTimings;
  maxRetries: number;
  /** Set when the run goes on with the session of an earlier attempt; its words are in the stores. */
  conversation?: { documentId: string; edge: ConversationEdge; sourceAttemptId: string };
  /** Set on a retry: the attempt it follows, and its place in the chain. */
  retry?: { parentAttemptId: string; rootAttemptId: string; retryNumber: number };
  /** Where the launch comes from; left out for a launch by a caller of the API, and for a retry. */
  origin?: LaunchOrigin;
  /** The workspace it is counted in. */
  workspaceId?: string;
  /** Set when the attempt was found without a workflow, and this one takes it up. */
  found?: FoundRun;
}

/** An attempt whose workflow was lost or terminated, as the stores have it. */
export interface FoundRun {
  /** Goes on with the launch, waits for the report of an agent elsewhere, or ends as interrupted. */
  next: 'launch' | 'callback' | 'end';
  /** Somebody ended the workflow: whatever watches over the agent is not waited for. */
  terminated: boolean;
  /** Whether it had come to its agent, whose end nobody has recorded. */
  dispatched: boolean;
  /** Whether its agent may have outlived its worker, to be gone on with. */
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
 * A command to the agent of a run. One of a caller of the API is in the stores before it is sent, with who it is from; any
 * other one is an operator's.
 */
export interface CommandInput {
  attemptId: string;
  type: AgentCommandType;
  /** For `message` and `steer`. Left out when the command with this id is in the stores already. */
  message?: string;
  actor: string;
  /** Who sent it, where that is proven; the actor when absent. */
  sentBy?: string;
  /** The id of the update when absent. The same one again is the same command. */
  commandId?: string;
  /** Compared with the run's own when given. */
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

/** Answers once the launch is decided: running with its contract stored, queued, or refused. */
export const launchUpdate = defineUpdate<LaunchOutcome>('launch');
/** Stops the run and answers once its end is recorded. */
export const stopUpdate = defineUpdate<RunEnd, [StopInput]>('stop');
/** Hands in the terminal claim of a remote agent, or an operator's in its place, and answers once it is recorded. */
export const completeUpdate = defineUpdate<RunEnd, [CompleteInput | OperatorCompletion]>('complete');
/** Hands a command to the agent and answers with what became of it: delivered, or not, and why. */
export const commandUpdate = defineUpdate<CommandAnswer, [CommandInput]>('command');
/** Capacity has been reserved for this queued attempt, or its wait is to be looked at again. */
export const capacityReserved = defineSignal('capacityReserved');

/** A request for approval of this run was made, or is no longer pending. */
export const approvalChanged = defineSignal<[{ approvalId: string; status: ApprovalStatus }]>('approvalChanged');

/** What the run may do has changed: its phase, the number of the change, and what the agent is told of it. */
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
