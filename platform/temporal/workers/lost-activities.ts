import { ActivityNotFoundError, type Client, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';

export interface LostActivities {
  /** The task queue of the workflows whose activities are checked. */
  taskQueue: string;
  /** Whether the identity of a worker is that of the one that was lost. */
  isTheirs: (identity: string) => boolean;
}

/** The failure type of an activity whose worker is dead. */
export const workerLost = 'WORKER_LOST';

/** How many workflows are checked at a time. */
const atATime = 8;
/** `PendingActivityState` of those that a worker has: STARTED, CANCEL_REQUESTED, PAUSE_REQUESTED. */
const atWork: readonly number[] = [2, 3, 5];

/**
 * Fails the activities that a dead worker had started, as its heartbeat timeout would later: one that may be repeated is, at
 * once, and the workflow of one that may not receives its failure.
 *
 * @returns how many it failed
 */
export async function failActivitiesOf(client: Client, { taskQueue, isTheirs }: LostActivities): Promise<number> {
  let failed = 0;
  const running = client.workflow.list({ query: `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'` });
  const workflows = running[Symbol.asyncIterator]();
  const work = async (): Promise<void> => {
    for (let next = await workflows.next(); next.done !== true; next = await workflows.next()) {
      const { workflowId, runId } = next.value;
      failed += await failIn(client, { workflowId, runId }, isTheirs).catch(unlessOver);
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return failed;
}

async function failIn(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
  isTheirs: LostActivities['isTheirs'],
): Promise<number> {
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  const theirs = (raw.pendingActivities ?? []).filter(
    ({ state, lastWorkerIdentity }) => atWork.includes(state ?? 0) && isTheirs(lastWorkerIdentity ?? ''),
  );
  if (theirs.length === 0) {
    return 0;
  }
  // The workflow is probably cached by the same worker, and would wait there for what follows.
  const { namespace } = client.options;
  await client.workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId, runId } });
  let failed = 0;
  for (const { activityId } of theirs) {
    if (!activityId) {
      continue;
    }
    failed += await client.activity.fail({ workflowId, runId, activityId }, lostFailure()).then(() => 1, unlessOver);
  }
  return failed;
}

/** It may have ended, or timed out, meanwhile. */
function unlessOver(error: unknown): number {
  if (error instanceof ActivityNotFoundError || error instanceof WorkflowNotFoundError) {
    return 0;
  }
  throw error;
}

const lostFailure = (): ApplicationFailure =>
  ApplicationFailure.create({ type: workerLost, message: 'The worker was lost.', nextRetryDelay: '1 millisecond' });
