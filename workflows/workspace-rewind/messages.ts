import type { Signed } from '../message-proofs';
import type { RewindDecision } from '../../contracts/workspace-rewind';

/** One execution at a time for each rewind: it is committed by one, however often it is asked for. */
export const workspaceRewindId = (rewindId: string): string => `rewind/${rewindId}`;
/** Planning changes nothing but the record, which is written once. */
export const rewindPlanId = (rewindId: string): string => `rewind-plan/${rewindId}`;

/** Signed by the API. */
export interface RewindPlanInput extends Signed {
  hostId: string;
  rewindId: string;
  taskId: string;
  attemptId: string;
  requestId: string;
  requestDigest: string;
  targetCheckpointId: string;
  descendantCheckpointId: string;
  resolutions: { path: string; decision: RewindDecision }[];
  actor: string;
}

/** Signed by the API once the rewind is approved. */
export interface RewindCommitInput extends Signed {
  hostId: string;
  rewindId: string;
  attemptId: string;
}

/** Why a worktree does not go back. */
export interface RewindRefusal {
  status: 'refused';
  code: string;
  message: string;
  details: Record<string, unknown>;
}

/** That it is planned, or done: what exactly is in its record. */
export type RewindOutcome = { status: 'planned' | 'committed' } | RewindRefusal;
