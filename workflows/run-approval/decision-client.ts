import { type Client, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { RunApproval } from '../../contracts/runs/approval';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { withinDeadline } from '../clients/deadline';
import { retryUpdate } from '../clients/retry-update';
import { withProof } from '../clients/with-proof';
import { decideMessage } from '../message-proofs';
import { runApprovalStart } from './client';
import {
  approvalActionChanged,
  approvalNotPending,
  approvalStale,
  type Decided,
  type DecideInput,
  decideUpdate,
} from './messages';

const refusals = [approvalActionChanged, approvalNotPending, approvalStale];

/** The workflow behind each approval. */
export function createApprovalLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /**
     * Records a decision through the approval's workflow, which is started again should it be lost.
     *
     * @returns the recorded decision; `refused` when the approval is no longer what was decided about
     * @throws AppError 503 `APPROVAL_PENDING` when no worker responds in time
     */
    async decide(approval: RunApproval, decision: DecideInput): Promise<Decided | 'refused'> {
      const signed = withProof(proofs, decision, {
        message: decideMessage(approval.id, decision),
        lifetimeMs: updateProofMs,
      });
      try {
        return await retryUpdate(() =>
          withinDeadline(client, { pending }, () =>
            client.workflow.executeUpdateWithStart(decideUpdate, {
              args: [signed],
              startWorkflowOperation: new WithStartWorkflowOperation('runApproval', runApprovalStart(approval)),
            }),
          ),
        );
      } catch (error) {
        const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
        if (cause instanceof ApplicationFailure && refusals.includes(cause.type ?? '')) {
          return 'refused';
        }
        throw error;
      }
    },
  };
}

const pending = () =>
  new AppError('APPROVAL_PENDING', {
    status: 503,
    message: 'No worker has recorded the decision yet. Read the approval before you decide again.',
    details: { retryAfterMs: 5_000 },
  });
