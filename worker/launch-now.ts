import { WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { LaunchOutcome } from '../contracts/launch';
import { startProofMs, type MessageProofs } from '../platform/crypto/message-proof';
import { agentRunId, launchUpdate, launchUpdateId, type AgentRunInput } from '../workflows/agent-run/messages';
import { launchMessage } from '../workflows/message-proofs';
import { boardQueue } from '../workflows/queues';
import { attributesOf } from './run-workflows';
import { searchAttributes } from '../platform/temporal/search-attributes';

/** Launches what the stores say, signed by this worker; asked again for an attempt, it answers the same. */
export const launchNow =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>) =>
  async (launch: AgentRunInput): Promise<LaunchOutcome | undefined> => {
    const proof = proofs.sign(launchMessage(launch), startProofMs);
    try {
      return await client.workflow.executeUpdateWithStart(launchUpdate, {
        updateId: launchUpdateId,
        startWorkflowOperation: new WithStartWorkflowOperation('agentRun', {
          workflowId: agentRunId(launch.attemptId),
          taskQueue: boardQueue,
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          args: [{ ...launch, proof }],
          staticSummary: `scheduled run of ${launch.taskId}`,
          typedSearchAttributes: [
            ...attributesOf(launch),
            { key: searchAttributes.attemptId, value: launch.attemptId },
            { key: searchAttributes.runState, value: 'admitting' },
          ],
        }),
      });
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
      throw error;
    }
  };
