import type { Client } from '@temporalio/client';
import type { AcceptedReview } from '../../contracts/tasks/review';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { reviewAcceptanceMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { reviewAcceptanceId, type ReviewAcceptanceInput, type ReviewOutcome } from './messages';

interface ReviewLauncherOptions {
  client: Client;
  proofs: Pick<MessageProofs, 'sign'>;
  heartbeatTimeoutMs: number;
}

/** The workflow behind the acceptance of a run's result. */
export function createReviewLauncher({ client, proofs, heartbeatTimeoutMs }: ReviewLauncherOptions) {
  return {
    /**
     * Accepts, or joins the acceptance of the same attempt that is under way, and returns how it ended.
     *
     * @throws AppError 503 `REVIEW_ACCEPTING` when it takes longer than a caller waits: it continues
     */
    accept: (accepted: AcceptedReview): Promise<ReviewOutcome> =>
      withinDeadline(client, { pending: () => pending(accepted) }, async () => {
        const message = reviewAcceptanceMessage(accepted);
        const handle = await client.workflow.start<(input: ReviewAcceptanceInput) => Promise<ReviewOutcome>>(
          'reviewAcceptance',
          {
            workflowId: reviewAcceptanceId(accepted.attemptId),
            taskQueue: boardQueue,
            workflowIdConflictPolicy: 'USE_EXISTING',
            args: [{ ...withProof(proofs, accepted, { message, lifetimeMs: startProofMs }), heartbeatTimeoutMs }],
            staticSummary: `accept ${accepted.attemptId} of ${accepted.taskId}`,
            typedSearchAttributes: [
              { key: searchAttributes.taskId, value: accepted.taskId },
              { key: searchAttributes.attemptId, value: accepted.attemptId },
            ],
          },
        );
        return handle.result();
      }),
  };
}

export type ReviewLauncher = ReturnType<typeof createReviewLauncher>;

const pending = ({ taskId, attemptId }: AcceptedReview) =>
  new AppError('REVIEW_ACCEPTING', {
    status: 503,
    message: `The acceptance is still under way; read GET /api/tasks/${taskId}/review.`,
    details: { taskId, attemptId, retryAfterMs: 5_000 },
  });
