import { defineUpdate } from '@temporalio/workflow';
import type { RunRecovery } from '../../contracts/runs/recovery';
import type { AgentRunInput } from '../agent-run/messages';
import type { Signed } from '../message-proofs';

/** One execution per attempt that failed. */
export const recoveryId = (attemptId: string): string => `recovery/${attemptId}`;

export interface RecoveryInput {
  /** The attempt that failed. */
  attemptId: string;
  /** The attempt that follows it, as it is launched. */
  next: AgentRunInput;
  backoffMs: number;
}

/** Signed by the API. */
export interface CancelRecoveryInput extends Signed {
  attemptId: string;
  actor: string;
}

/** Cancels a recovery that has not launched yet, and returns the recovery afterwards. */
export const cancelRecoveryUpdate = defineUpdate<RunRecovery | null, [CancelRecoveryInput]>('cancel');
