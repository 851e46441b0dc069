import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import type { PendingTransition } from '../../stores/tasks/task-transition-outbox';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { transitionMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { recordedTypes } from '../recorded-types';
import { deliverHooksId, type HookTimings } from './messages';
import type { deliverHooks } from './workflow';

const pending = () =>
  new AppError('HOOKS_PENDING', {
    status: 503,
    message: 'The workflow engine has not accepted the event in time; its hooks may run yet. Check their executions.',
    details: { retryAfterMs: 5_000 },
  });

/**
 * Starts the workflow that runs the hooks of something that happened, unless it was started before.
 *
 * @throws AppError 503 `HOOKS_PENDING` when Temporal has not accepted it in time
 */
export type StartTransition = (transition: PendingTransition) => Promise<void>;

/** How long Temporal may take to accept a start, in milliseconds; the outbox repeats a start that took longer. */
const startWithinMs = 5_000;

/** @param timings how long deliveries to hooks may take */
export const createTransitionStart =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>, timings: HookTimings): StartTransition =>
  async ({ id, context }) => {
    const transition = { id, context };
    try {
      const start = () =>
        client.workflow.start<typeof deliverHooks>(recordedTypes.deliverHooks, {
          workflowId: deliverHooksId(id),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          taskQueue: boardQueue,
          args: [
            {
              ...withProof(proofs, transition, { message: transitionMessage(transition), lifetimeMs: startProofMs }),
              timings,
            },
          ],
          staticSummary: `${context.event}: ${context.taskTitle}`.slice(0, 200),
        });
      await withinDeadline(client, { pending, withinMs: startWithinMs }, start);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        throw error;
      }
    }
  };
