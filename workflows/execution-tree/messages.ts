import { defineUpdate } from '@temporalio/workflow';
import type { Signed } from '../message-proofs';

/** The business id of a tree's workflow: cancelling it twice is one cancel. */
export const executionTreeId = (rootObjectiveId: string): string => `tree/${rootObjectiveId}`;

/** What cancels a tree, signed by the API; the key itself is never part of a history. */
export interface TreeCancelInput extends Signed {
  rootObjectiveId: string;
  actor: string;
  reason: string;
  keyHash: string;
}

/** Answers once the tree takes nothing any more; what runs in it is then brought to its end. */
export const closedUpdate = defineUpdate<{ cancelled: boolean }>('closed');
export const closedUpdateId = 'closed';
