import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { RunLauncher } from '../agent-run/client';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { treeCancelMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { recordedTypes } from '../recorded-types';
import { cancelExecutionTreeId, closedUpdate, closedUpdateId, type TreeCancelInput } from './messages';

/** The workflows behind admission: what its endpoints may start and signal. */
export const createAdmissionLauncher = (
  client: Client,
  runs: Pick<RunLauncher, 'stop'>,
  proofs: Pick<MessageProofs, 'sign'>,
) => ({
  /** Ends a queued run and resolves once that is recorded; `undefined` when it is over. */
  stopRun: runs.stop,

  /**
   * Resolves once the tree accepts no more launches; its running attempts are then ended.
   *
   * @throws AppError 503 `TREE_PENDING` when no worker responds in time: the cancel is stored and will be done
   */
  async cancelTree(cancel: TreeCancelInput): Promise<void> {
    const input = withProof(proofs, cancel, { message: treeCancelMessage(cancel), lifetimeMs: startProofMs });
    // Created for each try: an operation is good for one call.
    const start = () =>
      new WithStartWorkflowOperation(recordedTypes.cancelExecutionTree, {
        workflowId: cancelExecutionTreeId(input.rootObjectiveId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
        staticSummary: `cancel the tree of ${input.rootObjectiveId}`,
        typedSearchAttributes: [{ key: searchAttributes.rootObjectiveId, value: input.rootObjectiveId }],
      });
    await withinDeadline(client, { pending }, () =>
      client.workflow.executeUpdateWithStart(closedUpdate, {
        startWorkflowOperation: start(),
        updateId: closedUpdateId,
      }),
    );
  },
});

const pending = () =>
  new AppError('TREE_PENDING', {
    status: 503,
    message: 'The cancellation is accepted and waits for a worker. Repeat it with the same key.',
    details: { retryAfterMs: 5_000 },
  });
