import { defineUpdate } from '@temporalio/workflow';
import type { ProvenMessage } from '../../platform/crypto/message-proof';
import type { MessageProof } from '../../platform/crypto/message-proof-shape';

/** A plant on its way into the store, signed by the service for its user; the number as a text, because histories are JSON. */
export interface PlantCreation {
  proof?: MessageProof;
  user: string;
  id: string;
  name: string;
  tag?: string;
  delivery: DeliveryTimings;
}

/** How long a receiver is tried, in milliseconds; settings, shortened by tests. */
export interface DeliveryTimings {
  firstPauseMs: number;
  longestPauseMs: number;
  giveUpAfterMs: number;
}

export type Created = { created: boolean };

/** Returns once the plant is stored, or cannot be because its number is taken. */
export const createdUpdate = defineUpdate<Created>('created');

/** What is signed of a creation: that its user has asked for it, in this workflow. */
export const creationMessage = (workflowId: string, { proof: _proof, ...creation }: PlantCreation): ProvenMessage => ({
  purpose: 'create-plant',
  subject: workflowId,
  actor: creation.user,
  body: creation,
});
