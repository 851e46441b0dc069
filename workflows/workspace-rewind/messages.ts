import type { RewindDecision } from '../../contracts/workspace-rewind';

/** One execution at a time for each rewind: it is committed by one, however often it is asked for. */
export const workspaceRewindId = (rewindId: string): string => `rewind/${rewindId}`;
/** Planning changes nothing but the record, which is written once. */
export const rewindPlanId = (rewindId: string): string => `rewind-plan/${rewindId}`;

export interface RewindPlanInput {
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

export interface RewindCommitInput {
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
