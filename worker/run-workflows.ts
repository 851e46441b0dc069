import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { RunWorkflows, WorkflowWhereabouts } from '../activities/reconcile-runs';
import { localWorkspace } from '../contracts/common';
import { searchAttributes } from '../platform/temporal/search-attributes';
import { agentRunId, capacityReserved, type AgentRunInput } from '../workflows/agent-run/messages';
import { boardQueue } from '../workflows/queues';
import { recoveryId } from '../workflows/recovery/messages';

/** The workflows of runs, for whoever looks for those that were lost. */
export function runWorkflows(client: Client): RunWorkflows {
  return {
    ofRun: (attemptId) => whereabouts(client, agentRunId(attemptId)),
    ofRecovery: (attemptId) => whereabouts(client, recoveryId(attemptId)),

    async takeUpRun(input) {
      await client.workflow.signalWithStart('agentRun', {
        workflowId: agentRunId(input.attemptId),
        taskQueue: boardQueue,
        // Of several that find it lost, one starts it; what it is told is harmless to one that goes on.
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
        signal: capacityReserved,
        staticSummary: `run of ${input.taskId}, taken up`,
        typedSearchAttributes: [
          ...attributesOf(input),
          { key: searchAttributes.attemptId, value: input.attemptId },
          { key: searchAttributes.runState, value: 'taken up' },
        ],
      });
    },

    async takeUpRecovery(input) {
      await client.workflow.start('recovery', {
        workflowId: recoveryId(input.attemptId),
        taskQueue: boardQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
        staticSummary: `recovery of ${input.attemptId}, taken up`,
        typedSearchAttributes: [
          ...attributesOf(input.next),
          { key: searchAttributes.attemptId, value: input.attemptId },
        ],
      });
    },
  };
}

export const attributesOf = ({ taskId, workspaceId }: AgentRunInput) => [
  { key: searchAttributes.taskId, value: taskId },
  { key: searchAttributes.workspaceId, value: workspaceId ?? localWorkspace },
  { key: searchAttributes.rootObjectiveId, value: taskId },
];

/** Temporal that does not answer is no evidence: the error is the caller's. */
async function whereabouts(client: Client, workflowId: string): Promise<WorkflowWhereabouts> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW' ? 'open' : 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
