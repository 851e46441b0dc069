import type { Client } from '@temporalio/client';
import type { RunContinuationStore } from '../../stores/governance/watcher-policies/run-continuation-store';
import { boardQueue } from '../queues';
import { continueRunId } from './messages';

/** Starts the continuation of a run that is planned, unless it is under way. */
export async function continueRun(client: Client, attemptId: string): Promise<void> {
  await client.workflow.start('continueRun', {
    workflowId: continueRunId(attemptId),
    taskQueue: boardQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ attemptId }],
    staticSummary: `continuation of ${attemptId}`,
  });
}

/** Starts every planned continuation whose workflow was not started, or was ended. */
export async function reconcileContinuations(
  client: Client,
  continuations: Pick<RunContinuationStore, 'planned'>,
): Promise<void> {
  for await (const attemptId of continuations.planned()) {
    await continueRun(client, attemptId);
  }
}
