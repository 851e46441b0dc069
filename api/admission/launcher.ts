import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { startProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import {
  closedUpdate,
  closedUpdateId,
  executionTreeId,
  type TreeCancelInput,
} from '../../workflows/execution-tree/messages';
import { treeCancelMessage } from '../../workflows/message-proofs';
import { boardQueue } from '../../workflows/queues';
import type { RunLauncher } from '../runs/launcher';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

/** The workflows behind admission: what its endpoints may start and tell. */
export const createAdmissionLauncher = (
  client: Client,
  runs: Pick<RunLauncher, 'stop'>,
  proofs: Pick<MessageProofs, 'sign'>,
) => ({
  /** Ends a queued run and answers once that is recorded; `undefined` when it is over. */
  stopRun: runs.stop,

  /**
   * Answers once nothing is launched in the tree any more; what runs in it is then brought to its end.
   *
   * @throws AppError 503 `TREE_PENDING` when no worker answers in time: the cancel is kept and will be done
   */
  async cancelTree(cancel: TreeCancelInput): Promise<void> {
    const input = withProof(proofs, cancel, treeCancelMessage(cancel), startProofMs);
    // Made anew for each try: one is good for one call.
    const start = () =>
      new WithStartWorkflowOperation('executionTree', {
        workflowId: executionTreeId(input.rootObjectiveId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
        staticSummary: `cancel the tree of ${input.rootObjectiveId}`,
        typedSearchAttributes: [{ key: searchAttributes.rootObjectiveId, value: input.rootObjectiveId }],
      });
    await withinDeadline(client, pending, () =>
      client.workflow.executeUpdateWithStart(closedUpdate, {
        startWorkflowOperation: start(),
        updateId: closedUpdateId,
      }),
    );
  },
});

export type AdmissionLauncher = ReturnType<typeof createAdmissionLauncher>;

const pending = () =>
  new AppError('TREE_PENDING', 503, 'The cancel is accepted and waits for a worker. Ask again with the same key.', {
    retryAfterMs: 5_000,
  });
