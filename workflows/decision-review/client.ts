import type { Client } from '@temporalio/client';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { withinDeadline } from '../clients/deadline';
import { boardQueue } from '../queues';
import { decisionReviewId, type DecisionReviewInput, reviewChangedSignal } from './messages';

interface Timings {
  BOARD_RETRY_BACKOFF_MS: number;
  BOARD_HEARTBEAT_TIMEOUT_MS: number;
}

/** How the work of models for a review is started: once, whichever caller starts it. */
export const decisionReviewOptions = (reviewId: string, env: Timings) => ({
  workflowId: decisionReviewId(reviewId),
  taskQueue: boardQueue,
  staticSummary: `models answer ${reviewId}`,
  args: [{ reviewId, retryMs: env.BOARD_RETRY_BACKOFF_MS, heartbeatTimeoutMs: env.BOARD_HEARTBEAT_TIMEOUT_MS }] as [
    DecisionReviewInput,
  ],
});

/** Has models do what a review waits for. */
export type WakeReview = (reviewId: string) => Promise<void>;

const pending = () =>
  new AppError('DECISION_REVIEW_PENDING', { status: 503, message: 'The workflow engine did not respond in time.' });

/** How long Temporal may take to accept a start, in milliseconds. */
const withinMs = 5_000;

export const createReviewWake =
  (client: Client, { env, log }: { env: Timings; log: Log }): WakeReview =>
  async (reviewId) => {
    const start = () =>
      client.workflow.signalWithStart('decisionReview', {
        ...decisionReviewOptions(reviewId, env),
        signal: reviewChangedSignal,
      });
    // The review is stored; a failure here is reconciled by the workers, which start what is missing every minute.
    await withinDeadline(client, { pending, withinMs }, start).catch((error: unknown) =>
      log.warn({ err: error, reviewId }, 'decision review start deferred'),
    );
  };
