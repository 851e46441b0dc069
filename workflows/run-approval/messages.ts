import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ApprovalStatus } from '../../contracts/runs/approval';
import type { SealedBox } from '../../platform/crypto/sealed-box';
import type { Signed } from '../message-proofs';

/** One execution per approval: a repeated request is the same approval. */
export const runApprovalId = (approvalId: string): string => `approval/${approvalId}`;

/** What the workflow has to know of a request; everything else is in its record. */
export interface RunApprovalInput {
  approvalId: string;
  attemptId: string;
  actionHash: string;
  /** Revision of the pending record. */
  revision: number;
  expiresAt: string;
}

/** A decision on exactly what was seen; its proof shows that the API has it from the actor. */
export interface DecideInput extends Signed {
  decision: 'approved' | 'rejected';
  expectedRevision: number;
  expectedActionHash: string;
  actor: string;
  note?: string;
  /** Ciphertext: neither this workflow nor its history can read it. */
  sealedResponse?: SealedBox;
}

/** Whether the decision was recorded, or the status of the record instead. */
export interface Decided {
  recorded: boolean;
  status: ApprovalStatus;
}

/** Records a decision and resolves once it is in the stores. */
export const decideUpdate = defineUpdate<Decided, [DecideInput]>('decide');
/** The record was closed elsewhere, because its attempt has ended. */
export const approvalClosed = defineSignal('approvalClosed');

/** Failure types a decision is rejected with. */
export const approvalNotPending = 'APPROVAL_NOT_PENDING';
export const approvalStale = 'APPROVAL_STALE';
export const approvalActionChanged = 'APPROVAL_ACTION_CHANGED';
