import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type Client,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { runApprovalStart } from '../../approvals/approvals';
import type { RunApproval } from '../../contracts/run-approval';
import { AppError } from '../../platform/errors/app-error';
import {
  approvalActionChanged,
  approvalNotPending,
  approvalStale,
  decideUpdate,
  type Decided,
  type DecideInput,
} from '../../workflows/run-approval/messages';
import { withinDeadline } from '../temporal/deadline';

/** How often a decision is sent again whose workflow ended at the very moment it was sent. */
const tries = 3;

const refusals = [approvalActionChanged, approvalNotPending, approvalStale];

/** The workflow behind each approval. */
export function createApprovalLauncher(client: Client) {
  return {
    /**
     * Records a decision through the approval's workflow, which is started again should it be lost.
     *
     * @returns what was recorded; `refused` when the approval is no longer what was decided about
     * @throws AppError 503 `APPROVAL_PENDING` when no worker answers in time
     */
    async decide(approval: RunApproval, decision: DecideInput): Promise<Decided | 'refused'> {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await withinDeadline(client, pending, () =>
            client.workflow.executeUpdateWithStart(decideUpdate, {
              args: [decision],
              startWorkflowOperation: new WithStartWorkflowOperation('runApproval', runApprovalStart(approval)),
            }),
          );
        } catch (error) {
          if (error instanceof WorkflowUpdateFailedError) {
            const { cause } = error;
            if (cause instanceof ApplicationFailure && refusals.includes(cause.type ?? '')) return 'refused';
            throw error;
          }
          if (!(error instanceof WorkflowNotFoundError) || attempt === tries) throw error;
        }
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
