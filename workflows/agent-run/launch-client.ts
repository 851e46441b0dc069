import { type Client, WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { launchMessage } from '../message-proofs';
import { launchOptions } from './launch-options';
import { type AgentRunInput, launchUpdate, launchUpdateId } from './messages';

/** Launches what the stores record, signed by this worker; repeated for an attempt, it returns the same. */
export const launchNow =
  (client: Client, proofs: Pick<MessageProofs, 'sign'>) =>
  async (launch: AgentRunInput): Promise<LaunchOutcome | undefined> => {
    const proof = proofs.sign(launchMessage(launch), startProofMs);
    try {
      return await client.workflow.executeUpdateWithStart(launchUpdate, {
        updateId: launchUpdateId,
        startWorkflowOperation: new WithStartWorkflowOperation(
          'agentRun',
          launchOptions({ ...launch, proof }, `scheduled run of ${launch.taskId}`),
        ),
      });
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) {
        return undefined;
      }
      throw error;
    }
  };
