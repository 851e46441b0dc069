import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import type { LaunchOrigin } from '../../contracts/admission';
import type { LaunchOutcome } from '../../contracts/launch';
import { agentRunId, launchUpdate, launchUpdateId, type AgentRunInput } from '../../workflows/agent-run/messages';
import { boardQueue } from '../../workflows/queues';

/** Launches a run as parts of the service do that are no callers of its API: with an origin of its own. */
export async function launchFrom(
  temporal: Client,
  origin: LaunchOrigin,
  input: Pick<AgentRunInput, 'taskId' | 'request'> & Partial<AgentRunInput>,
): Promise<LaunchOutcome> {
  const attemptId = `attempt_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const args: AgentRunInput = {
    attemptId,
    actor: 'test',
    maxRetries: 0,
    timings: { runTimeoutMs: 60_000, heartbeatTimeoutMs: 2_000, retryBackoffMs: 10 },
    origin,
    ...input,
  };
  return temporal.workflow.executeUpdateWithStart(launchUpdate, {
    updateId: launchUpdateId,
    startWorkflowOperation: new WithStartWorkflowOperation('agentRun', {
      workflowId: agentRunId(args.attemptId),
      taskQueue: boardQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [args],
    }),
  });
}
