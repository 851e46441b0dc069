import { defineUpdate } from '@temporalio/workflow';
import type { Signed } from '../message-proofs';

/** The business id of a tree's workflow: cancelling it twice is one cancel. */
export const cancelExecutionTreeId = (rootObjectiveId: string): string => `tree/${rootObjectiveId}`;

/** What cancels a tree, signed by the API; the key itself is never part of a history. */
export interface TreeCancelInput extends Signed {
  rootObjectiveId: string;
  actor: string;
  reason: string;
  keyHash: string;
}

/** Resolves once the tree accepts no more launches; its running attempts are then ended. */
export const closedUpdate = defineUpdate<{ cancelled: boolean }>('closed');
export const closedUpdateId = 'closed';
