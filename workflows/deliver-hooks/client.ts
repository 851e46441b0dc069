import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import type { PendingTransition } from '../../stores/tasks/task-transition-outbox';
import { withProof } from '../clients/with-proof';
import { transitionMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { recordedTypes } from '../recorded-types';
import { deliverHooksId, type HookTimings } from './messages';
import type { deliverHooks } from './workflow';

/** Starts the workflow that runs the hooks of something that happened, unless it was started before. */
export type StartTransition = (transition: PendingTransition) => Promise<void>;

/** How long Temporal may take to accept a start, in milliseconds; the outbox repeats a start that took longer. */
const startWithinMs = 5_000;

/** @param timings how long deliveries to hooks may take */
export const createTransitionStart =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>, timings: HookTimings): StartTransition =>
  async ({ id, context }) => {
    const transition = { id, context };
    try {
      await client.withDeadline(Date.now() + startWithinMs, () =>
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
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) {
        throw error;
      }
    }
  };
