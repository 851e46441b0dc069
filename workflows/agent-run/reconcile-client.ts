import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { RunWorkflows } from '../../activities/reconcile/activities';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { describeStatus } from '../clients/workflow-status';
import { boardQueue } from '../queues';
import { recoveryId } from '../recovery/messages';
import { launchAttributes } from './launch-options';
import { agentRunId, capacityReserved } from './messages';

/** The workflows of runs, for the reconciliation of those that were lost. */
export function runWorkflows(client: Client): RunWorkflows {
  return {
    ofRun: (attemptId) => describeStatus(client, agentRunId(attemptId)),
    ofRecovery: (attemptId) => describeStatus(client, recoveryId(attemptId)),

    async adoptRun(input) {
      await client.workflow.signalWithStart('agentRun', {
        workflowId: agentRunId(input.attemptId),
        taskQueue: boardQueue,
        // Of several workers that detect the loss, one starts it; the input is harmless to a workflow that runs.
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
        signal: capacityReserved,
        staticSummary: `run of ${input.taskId}, taken up`,
        typedSearchAttributes: [
          ...launchAttributes(input),
          { key: searchAttributes.attemptId, value: input.attemptId },
          { key: searchAttributes.runState, value: 'taken up' },
        ],
      });
    },

    async adoptRecovery(input) {
      await client.workflow.start('recovery', {
        workflowId: recoveryId(input.attemptId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
        staticSummary: `recovery of ${input.attemptId}, taken up`,
        typedSearchAttributes: [
          ...launchAttributes(input.next),
          { key: searchAttributes.attemptId, value: input.attemptId },
        ],
      });
    },
  };
}

/** Whether a run's workflow is open. A failure of Temporal is no evidence that it is not. */
export async function isRunOpen(client: Client, attemptId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(agentRunId(attemptId)).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}
