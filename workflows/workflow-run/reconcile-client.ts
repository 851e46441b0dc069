import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { reconcileRuns } from '../../services/workflow-runs/runs/reconcile-runs';
import { createWorkflowRunClient, type WorkflowRunClientDependencies } from './client';

/** So many runs are started in one round. */
const maxStarted = 1_000;

/**
 * Starts the workflows of runs that were stored and not started, since a process ended in between, and ends runs whose workflow
 * was terminated.
 */
export async function reconcileWorkflowRuns(
  client: Client,
  { log, ...deps }: WorkflowRunClientDependencies & { log: Log },
): Promise<void> {
  const { engine: runs } = deps.workflowRuns;
  const starter = createWorkflowRunClient(client, deps);
  await reconcileRuns({ client, runs, endRun: starter.endRun, cancelRun: starter.cancelRun });
  for (const run of await runs.find({ statuses: ['queued', 'starting'] }, { limit: maxStarted })) {
    await starter.start(run).catch((error: unknown) => log.warn({ err: error, runId: run._id }, 'run start failed'));
  }
}
