import type { Refusal } from '../../contracts/refusal';
import type { RewindDecision } from '../../contracts/runs/rewind';
import type { Signed } from '../message-proofs';

/** One execution at a time for each rewind: repeated requests share one commit. */
export const workspaceRewindId = (rewindId: string): string => `rewind/${rewindId}`;
/** Planning writes nothing but the record, once. */
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

/** That it is planned, or done: what exactly is in its record. */
export type RewindOutcome = { status: 'planned' | 'committed' } | Refusal;
