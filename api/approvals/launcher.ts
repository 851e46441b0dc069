import { WithStartWorkflowOperation, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { runApprovalStart } from '../../approvals/approvals';
import type { RunApproval } from '../../contracts/run-approval';
import { updateProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { decideMessage } from '../../workflows/message-proofs';
import {
  approvalActionChanged,
  approvalNotPending,
  approvalStale,
  decideUpdate,
  type Decided,
  type DecideInput,
} from '../../workflows/run-approval/messages';
import { askAgain } from '../temporal/ask-again';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

const refusals = [approvalActionChanged, approvalNotPending, approvalStale];

/** The workflow behind each approval. */
export function createApprovalLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /**
     * Records a decision through the approval's workflow, which is started again should it be lost.
     *
     * @returns what was recorded; `refused` when the approval is no longer what was decided about
     * @throws AppError 503 `APPROVAL_PENDING` when no worker answers in time
     */
    async decide(approval: RunApproval, decision: DecideInput): Promise<Decided | 'refused'> {
      const signed = withProof(proofs, decision, decideMessage(approval.id, decision), updateProofMs);
      try {
        return await askAgain(() =>
          withinDeadline(client, pending, () =>
            client.workflow.executeUpdateWithStart(decideUpdate, {
              args: [signed],
              startWorkflowOperation: new WithStartWorkflowOperation('runApproval', runApprovalStart(approval)),
            }),
          ),
        );
      } catch (error) {
        const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
        if (cause instanceof ApplicationFailure && refusals.includes(cause.type ?? '')) return 'refused';
        throw error;
      }
    },
  };
}

export type ApprovalLauncher = ReturnType<typeof createApprovalLauncher>;

const pending = () =>
  new AppError(
    'APPROVAL_PENDING',
    503,
    'No worker has recorded the decision yet. Read the approval before you decide again.',
    { retryAfterMs: 5_000 },
  );
