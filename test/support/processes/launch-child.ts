import { randomUUID } from 'node:crypto';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { LaunchOrigin } from '../../../contracts/runs/admission';
import type { LaunchOutcome } from '../../../contracts/runs/launch/launch';
import { startProofMs } from '../../../platform/crypto/message-proof';
import { agentRunId, type AgentRunInput, launchUpdate, launchUpdateId } from '../../../workflows/agent-run/messages';
import { withProof } from '../../../workflows/clients/with-proof';
import { launchMessage } from '../../../workflows/message-proofs';
import { boardQueue } from '../../../workflows/queues';
import { proofsOf } from '../stack/proofs';
import type { Stack } from '../stack/stack';

/** Launches a run as parts of the service do that are no callers of its API: with an origin of its own, signed like theirs. */
export async function launchFrom(
  { temporal, env }: Pick<Stack, 'temporal' | 'env'>,
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
      args: [withProof(await proofsOf(env), args, { message: launchMessage(args), lifetimeMs: startProofMs })],
    }),
  });
}
