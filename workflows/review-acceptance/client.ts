import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { CancelledFailure, TerminatedFailure } from '@temporalio/common';
import type { AcceptanceWorkflows } from '../../activities/review-acceptance/lost';
import type { AcceptedReview } from '../../contracts/tasks/review';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { describeStatus } from '../clients/workflow-status';
import { reviewAcceptanceMessage } from '../message-proofs';
import { pullRequestId } from '../pull-request/messages';
import { boardQueue } from '../queues';
import { worktreeId } from '../worktree/messages';
import { reviewAcceptanceId, type ReviewAcceptanceInput, type ReviewOutcome } from './messages';

interface ReviewLauncherOptions {
  client: Client;
  proofs: Pick<MessageProofs, 'sign'>;
  heartbeatTimeoutMs: number;
}

/** Starts the workflow of an acceptance, or joins the one of the same attempt that is under way. */
function start({ client, proofs, heartbeatTimeoutMs }: ReviewLauncherOptions, accepted: AcceptedReview) {
  const message = reviewAcceptanceMessage(accepted);
  return client.workflow.start<(input: ReviewAcceptanceInput) => Promise<ReviewOutcome>>('reviewAcceptance', {
    workflowId: reviewAcceptanceId(accepted.attemptId),
    taskQueue: boardQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ ...withProof(proofs, accepted, { message, lifetimeMs: startProofMs }), heartbeatTimeoutMs }],
    staticSummary: `accept ${accepted.attemptId} of ${accepted.taskId}`,
    typedSearchAttributes: [
      { key: searchAttributes.taskId, value: accepted.taskId },
      { key: searchAttributes.attemptId, value: accepted.attemptId },
    ],
  });
}

/** The workflow behind the acceptance of a run's result. */
export function createReviewLauncher(options: ReviewLauncherOptions) {
  return {
    /**
     * Accepts, or joins the acceptance of the same attempt that is under way, and returns how it ended.
     *
     * @throws AppError 503 `REVIEW_ACCEPTING` when it takes longer than a caller waits, or an operator ends it: it continues, or the
     *   reconciliation settles it
     */
    accept: (accepted: AcceptedReview): Promise<ReviewOutcome> =>
      withinDeadline(options.client, { pending: () => pending(accepted) }, async () =>
        (await start(options, accepted)).result().catch((error: unknown) => {
          throw isEndedByOperator(error) ? pending(accepted) : error;
        }),
      ),
  };
}

/** The workflows of acceptances, for the reconciliation of those that were lost. */
export function acceptanceWorkflows(options: ReviewLauncherOptions): AcceptanceWorkflows {
  const { client } = options;
  return {
    ofAcceptance: (attemptId) => describeStatus(client, reviewAcceptanceId(attemptId)),

    async isDelivering(taskId) {
      const ids = [worktreeId(taskId), pullRequestId(taskId)];
      const statuses = await Promise.all(ids.map((id) => describeStatus(client, id)));
      return statuses.includes('open');
    },

    async adoptAcceptance(accepted) {
      await start(options, accepted);
    },
  };
}

/** Whether the workflow was taken away from its waiting caller: the reconciliation settles what it has begun. */
const isEndedByOperator = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError ||
  (error instanceof WorkflowFailedError &&
    (error.cause instanceof TerminatedFailure || error.cause instanceof CancelledFailure));

const pending = ({ taskId, attemptId }: AcceptedReview) =>
  new AppError('REVIEW_ACCEPTING', {
    status: 503,
    message: `The acceptance is still under way; read GET /api/tasks/${taskId}/review.`,
    details: { taskId, attemptId, retryAfterMs: 5_000 },
  });
