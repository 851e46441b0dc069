import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { PhaseNotice } from '../../domain/phases/notice';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { AppError } from '../../platform/errors/app-error';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { agentRunId, phaseChanged } from '../agent-run/messages';
import { withinDeadline } from '../clients/deadline';
import { withProof } from '../clients/with-proof';
import { expansionMessage } from '../message-proofs';
import { boardQueue } from '../queues';
import { recordedTypes } from '../recorded-types';
import { expansionBegun, temporaryAuthorityId, type TemporaryAuthorityInput } from './messages';

/** The workflow behind an emergency. */
export function createPhaseLauncher(client: Client, proofs: Pick<MessageProofs, 'sign'>) {
  return {
    /**
     * Begins an emergency whose end is arranged with it, and returns whether it was begun. `undefined` when one of this name is
     * over already: the journal records its outcome.
     *
     * @throws AppError 503 `PHASE_PENDING` when no worker responds in time
     */
    async expand(expansion: TemporaryAuthorityInput, taskId: string): Promise<{ applied: boolean } | undefined> {
      const input = withProof(proofs, expansion, { message: expansionMessage(expansion), lifetimeMs: updateProofMs });
      try {
        return await withinDeadline(client, { pending }, () =>
          client.workflow.executeUpdateWithStart(expansionBegun, {
            updateId: 'begun',
            startWorkflowOperation: new WithStartWorkflowOperation(recordedTypes.temporaryAuthority, {
              workflowId: temporaryAuthorityId(input.attemptId, input.operationId),
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
        if (error instanceof WorkflowExecutionAlreadyStartedError) {
          return undefined;
        }
        throw error;
      }
    },

    /** Signals a change, which was made already, to the run; one that is over does not need it. */
    async signalPhase(attemptId: string, notice: PhaseNotice): Promise<void> {
      try {
        await withinDeadline(client, { pending }, () =>
          client.workflow.getHandle(agentRunId(attemptId)).signal(phaseChanged, notice),
        );
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) {
          throw error;
        }
      }
    },
  };
}

const pending = () =>
  new AppError('PHASE_PENDING', {
    status: 503,
    message: 'No worker has made the change yet. Send it again with the same operationId.',
    details: { retryAfterMs: 5_000 },
  });
