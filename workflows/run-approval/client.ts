import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { ApprovalRequest, RunApproval } from '../../contracts/runs/approval';
import { newApproval } from '../../domain/approvals/record';
import { conflict } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { ApprovalStore } from '../../stores/runs/approval-store';
import type { AttemptStore } from '../../stores/runs/attempt-store';
import type { FeedStore } from '../../stores/system/feed-store';
import { boardQueue } from '../queues';
import { approvalClosed, runApprovalId, type RunApprovalInput } from './messages';

export interface ApprovalsDependencies {
  approvals: ApprovalStore;
  attempts: Pick<AttemptStore, 'get'>;
  feed: Pick<FeedStore, 'last' | 'watch'>;
  client: Client;
  now(): Date;
}

/** Requests approvals and waits for them: for every step that needs one, in the api as in a worker. */
export function createApprovals(deps: ApprovalsDependencies) {
  return {
    /**
     * Requests an approval, or returns the existing one: the same request is the same approval, decided or not. Safe to repeat
     * after any crash.
     *
     * @throws AppError 409 `APPROVAL_ACTION_CHANGED` when the same request was for another action, `RUN_ENDED` when the attempt
     *   is over
     */
    async request(request: ApprovalRequest): Promise<RunApproval> {
      await deps.approvals.expireDue(deps.now().toISOString());
      const requested = newApproval(request, deps.now());
      if (!(await deps.approvals.get(requested.id))) {
        await assertGoesOn(request.attemptId);
      }
      const approval = await deps.approvals.open(requested, request.responseKey);
      if (approval.actionHash !== requested.actionHash) {
        throw conflict(
          'The request id belongs to another action; use a new one.',
          { approvalId: approval.id, expectedActionHash: requested.actionHash, current: approval },
          'APPROVAL_ACTION_CHANGED',
        );
      }
      if (approval.status === 'pending') {
        await this.supervise(approval);
      }
      return approval;
    },

    /** Ensures that the workflow of a pending approval runs. */
    async supervise(approval: RunApproval): Promise<void> {
      try {
        await deps.client.workflow.start<(input: RunApprovalInput) => Promise<unknown>>(
          'runApproval',
          runApprovalStart(approval),
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
          throw error;
        }
      }
    },

    /** Cancels every pending approval of an ended attempt; `close` ends one record and publishes that. */
    async cancelOf(attemptId: string, close: (approvalId: string) => Promise<unknown>): Promise<void> {
      for (const { id } of await deps.approvals.pendingOf(attemptId, 1_000)) {
        await close(id);
        try {
          await deps.client.workflow.getHandle(runApprovalId(id)).signal(approvalClosed);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) {
            throw error;
          }
        }
      }
    },

    /** Resolves with the record once it is no longer pending. @throws the reason `signal` was aborted with */
    async settled(approvalId: string, signal: AbortSignal): Promise<RunApproval> {
      // Read before the record: a decision that comes in between is received.
      const after = await deps.feed.last();
      const current = await deps.approvals.get(approvalId);
      if (current && current.status !== 'pending') {
        return current;
      }
      for await (const entries of deps.feed.watch(after, signal)) {
        const published = entries.some(
          ({ message }) => message.type === 'run-approval.changed' && message.approvalId === approvalId,
        );
        const approval = published ? await deps.approvals.get(approvalId) : undefined;
        if (approval && approval.status !== 'pending') {
          return approval;
        }
      }
      throw signal.reason instanceof Error ? signal.reason : new Error('The wait for a decision was cancelled.');
    },

    /** Response data of a decision, still sealed; handed out once. */
    takeResponse: (approvalId: string) => deps.approvals.takeResponse(approvalId),
  };

  async function assertGoesOn(attemptId: string): Promise<void> {
    const attempt = await deps.attempts.get(attemptId);
    if (!attempt || attempt.completion || attempt.state === 'ended' || attempt.state === 'refused') {
      throw conflict('The run has ended; it no longer needs approvals.', { attemptId }, 'RUN_ENDED');
    }
  }
}

export type Approvals = ReturnType<typeof createApprovals>;

/** How the workflow of an approval is started; running already, it is that one. */
export const runApprovalStart = (approval: RunApproval) => ({
  workflowId: runApprovalId(approval.id),
  taskQueue: boardQueue,
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  args: [
    {
      approvalId: approval.id,
      attemptId: approval.attemptId,
      actionHash: approval.actionHash,
      revision: 1,
      expiresAt: approval.expiresAt,
    },
  ] as [RunApprovalInput],
  staticSummary: `approval of ${approval.actionClass} in ${approval.taskId}`,
  typedSearchAttributes: [
    { key: searchAttributes.taskId, value: approval.taskId },
    { key: searchAttributes.attemptId, value: approval.attemptId },
    { key: searchAttributes.workspaceId, value: approval.workspaceId },
  ],
});
