import { defineUpdate } from '@temporalio/workflow';
import type { PhaseChange } from '../../stores/runs/phase-store';
import type { Signed } from '../message-proofs';

/** One execution per emergency: a repeated request is the same operation. */
export const temporaryAuthorityId = (attemptId: string, operationId: string): string =>
  `phase-expansion/${attemptId}/${operationId}`;

/** Signed by the API. */
export interface TemporaryAuthorityInput extends Signed {
  attemptId: string;
  operationId: string;
  expiresAt: string;
  /** What the change was decided on: it is made on exactly that, or not at all. */
  expected: { sequence: number; evidenceDigest: string; manifestDigest: string };
  change: PhaseChange;
}

/** Resolves once the change is made, or cannot be. */
export const expansionBegun = defineUpdate<{ applied: boolean }>('begun');
