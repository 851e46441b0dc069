import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { isMessageProof, messageUnproven } from '../platform/crypto/message-proof-shape';
import type { Signed } from './message-proofs';
import { reject } from './reject';

/** Refuses a message without a proof before it becomes part of the history; the proof is verified after that. */
export function requireProof({ proof }: Signed): void {
  if (!isMessageProof(proof)) {
    reject(messageUnproven, 'Only the API decides this: the message has no proof of it.');
  }
}

/** Refuses what has a proof that is none; without any it is an operator's. */
export function checkProof({ proof }: Signed): void {
  if (proof !== undefined && !isMessageProof(proof)) {
    reject(messageUnproven, 'The proof of the message is none.');
  }
}

/** The result of a step; a permanent refusal is thrown with its own type. */
export async function refusing<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
  }
}

/** The result of a step that verifies a message first; a message that it refuses is refused as one. */
export async function verified<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (cause instanceof ApplicationFailure && cause.type === messageUnproven) {
      throw cause;
    }
    throw error;
  }
}
