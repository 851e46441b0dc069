import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { type MessageProofs, startProofMs } from '../../platform/crypto/message-proof';
import { launchMessage } from '../message-proofs';
import { launchOptions } from './launch-options';
import { agentRunId, type AgentRunInput, launchUpdate, launchUpdateId, type RunResult } from './messages';

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
        return decidedLaunch(client, launch.attemptId);
      }
      throw error;
    }
  };

/**
 * The decision of a launch whose workflow is over. A refusal may have no attempt to be read from, and a request that was lost
 * before a worker had it no response: then it is the result of the workflow. `undefined` when neither has it.
 */
export async function decidedLaunch(client: Client, attemptId: string): Promise<LaunchOutcome | undefined> {
  const handle = client.workflow.getHandle<() => Promise<RunResult>>(agentRunId(attemptId));
  try {
    return await handle.getUpdateHandle<LaunchOutcome>(launchUpdateId).result();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) {
      throw error;
    }
  }
  try {
    return (await handle.result()).refusal;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError) {
      return undefined;
    }
    throw error;
  }
}
