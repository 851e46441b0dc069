import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { IssueSyncFailure, IssueSyncReport } from '../../contracts/integrations/issue-sync';
import type { Signed } from '../message-proofs';

/** The synchronisation of a configured repository, of which there is one at a time. */
export const issueSyncId = (repo: string): string => `issue-sync/${repo}`;

/** How the repository is synchronised is read from the stores in each round. */
export interface IssueSyncInput {
  repo: string;
  /** The first pause before a step is tried again, and how long one may be silent, in milliseconds. */
  retryMs: number;
  heartbeatTimeoutMs: number;
}

/** A request for a round now. */
export interface SyncNowInput extends Signed {
  repo: string;
  actor: string;
}

/** How a round ended. */
export type RoundEnd = { status: 'done'; report: IssueSyncReport } | { status: 'failed'; failure: IssueSyncFailure };

/** The configuration has changed, or the forge reports that something has: read both. */
export const changedSignal = defineSignal('changed');

export interface Disabled {
  status: 'disabled';
}

/** Begins a round, and returns how it ended. */
export const syncNowUpdate = defineUpdate<RoundEnd | Disabled, [SyncNowInput]>('syncNow');
