import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { RunCommands } from './commands';
import type { EndRun } from './end-run';
import { runWorkflowId } from './execution/messages';
import { activeStatuses, hasEnded, type RunRecord } from './run';
import type { RunStore } from './store';

export interface ReconcileDependencies {
  client: Client;
  runs: RunStore;
  endRun: EndRun;
  cancelRun: RunCommands['cancel'];
}

/** Runs that are read at a time. */
const pageSize = 1_000;

/** How a workflow was closed that has not recorded the end of its run, by Temporal's status. */
const closed: Readonly<Record<string, string>> = {
  TERMINATED: 'Its workflow was terminated.',
  TIMED_OUT: 'Its workflow timed out.',
  FAILED: 'Its workflow failed.',
  CANCELLED: 'Its workflow was cancelled.',
  COMPLETED: 'Its workflow completed without recording the end of the run.',
};

/**
 * Ends runs whose workflow is closed or gone: they would count against the concurrency limit for ever. Cancels child runs whose parent
 * has ended without doing so.
 */
export async function reconcileRuns({ client, runs, endRun, cancelRun }: ReconcileDependencies): Promise<void> {
  const active: RunRecord[] = [];
  for (let more = true; more;) {
    const page = await runs.find({ statuses: ['queued', ...activeStatuses] }, { skip: active.length, limit: pageSize });
    active.push(...page);
    more = page.length === pageSize;
  }
  for (const { _id, parent, status } of active) {
    if (parent && hasEnded((await runs.get(parent.run_id))?.status ?? 'failed')) {
      await cancelOrphan(_id);
      continue;
    }
    const message = status === 'queued' ? undefined : await whyOver(client, _id);
    // Its record is read after the workflow's status: the workflow may have written it meanwhile.
    const run = message === undefined ? undefined : await runs.get(_id);
    if (message !== undefined && run && isLost(run, message)) {
      await endRun(run, { status: 'failed', message });
    }
  }

  /** One that cannot be reached now is tried again the next time. */
  async function cancelOrphan(id: string): Promise<void> {
    const run = await runs.get(id);
    if (run && !hasEnded(run.status)) {
      await cancelRun(run, 'The run has ended.', { byParent: true }).catch(() => undefined);
    }
  }
}

const gone = 'Its workflow does not exist any more.';

/** One that is starting may have no workflow yet. */
const isLost = ({ status }: RunRecord, message: string): boolean =>
  !hasEnded(status) && !(status === 'starting' && message === gone);

/** Why the workflow of a run does nothing any more; `undefined` while it runs, also in another execution. */
export async function whyOver(client: Client, runId: string): Promise<string | undefined> {
  try {
    const { status } = await client.workflow.getHandle(runWorkflowId(runId)).describe();
    return closed[status.name];
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      return gone;
    }
    throw error;
  }
}
