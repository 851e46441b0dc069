import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import { updateProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { PhaseNotice } from '../../runs/phases/notice';
import { agentRunId, phaseChanged } from '../../workflows/agent-run/messages';
import { expansionBegun, phaseExpansionId, type PhaseExpansionInput } from '../../workflows/phase-expansion/messages';
import { expansionMessage } from '../../workflows/message-proofs';
import { boardQueue } from '../../workflows/queues';
import { withinDeadline } from '../temporal/deadline';
import { withProof } from '../temporal/with-proof';

/** The workflow behind an emergency. */
export function createPhaseLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /**
     * Begins an emergency whose end is arranged with it, and answers whether it was begun. `undefined` when one of this
     * name is over already: the journal says what became of it.
     *
     * @throws AppError 503 `PHASE_PENDING` when no worker answers in time
     */
    async expand(expansion: PhaseExpansionInput, taskId: string): Promise<{ applied: boolean } | undefined> {
      const input = withProof(proofs, expansion, expansionMessage(expansion), updateProofMs);
      try {
        return await withinDeadline(client, pending, () =>
          client.workflow.executeUpdateWithStart(expansionBegun, {
            updateId: 'begun',
            startWorkflowOperation: new WithStartWorkflowOperation('phaseExpansion', {
              workflowId: phaseExpansionId(input.attemptId, input.operationId),
              taskQueue: boardQueue,
              workflowIdConflictPolicy: 'USE_EXISTING',
              workflowIdReusePolicy: 'REJECT_DUPLICATE',
              args: [input],
              staticSummary: `emergency authority in ${taskId} until ${input.expiresAt}`,
              typedSearchAttributes: [
                { key: searchAttributes.taskId, value: taskId },
                { key: searchAttributes.attemptId, value: input.attemptId },
              ],
            }),
          }),
        );
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
        throw error;
      }
    },

    /** Tells the run of a change, which was made already; one that is over needs not know. */
    async tell(attemptId: string, notice: PhaseNotice): Promise<void> {
      try {
        await withinDeadline(client, pending, () =>
          client.workflow.getHandle(agentRunId(attemptId)).signal(phaseChanged, notice),
        );
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}

export type PhaseLauncher = ReturnType<typeof createPhaseLauncher>;

const pending = () =>
  new AppError('PHASE_PENDING', 503, 'No worker has made the change yet. Send it again with the same operationId.', {
    retryAfterMs: 5_000,
  });
