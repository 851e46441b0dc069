import {
  ActivityFailure,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ScheduledDeliverableActivities } from '../../activities/scheduled-deliverable/activities';
import { workspaceWorkflow } from '../workspace-ids';
import type { StartedRun } from './messages';

const steps = proxyActivities<ScheduledDeliverableActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds', maximumAttempts: 20 },
  summary: 'scheduled deliverable',
});
const { endDeliverableRun } = proxyActivities<ScheduledDeliverableActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
  summary: 'end the run',
});

/** How long the workflow waits before it reads again whether the agent is done. */
const firstWaitMs = 2_000;
const longestWaitMs = 60_000;

/**
 * Takes one run of a scheduled deliverable to its end: its record, its task, the launch of its agent, and its result. It lasts
 * as long as the agent, so that the overlap policy of the Schedule counts it as running.
 */
export async function scheduledDeliverable(id: string, started?: StartedRun): Promise<string> {
  const { runId: occurrence, workflowId } = workflowInfo();
  const beginning = { id, occurrence, workflow: workspaceWorkflow(workflowId).id, ...(started && { started }) };
  let run = await steps.beginDeliverableRun(beginning);
  while (run.status === 'waiting') {
    await sleep(longestWaitMs / 4);
    run = await steps.beginDeliverableRun(beginning);
  }
  if (run.status !== 'running') {
    return run.status;
  }
  const { runId } = run;
  try {
    const prepared = await steps.prepareDeliverableTask({ runId });
    if (prepared !== 'running') {
      return prepared;
    }
    setCurrentDetails(`${runId}: the agent is launched`);
    const launched = await steps.launchDeliverableAgent({ runId });
    return launched === 'running' ? await endOfAgent(id, runId) : launched;
  } catch (error) {
    if (error instanceof ActivityFailure) {
      return endDeliverableRun({ runId, error: error.cause?.message ?? error.message });
    }
    throw error;
  }
}

async function endOfAgent(id: string, runId: string): Promise<string> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 1.5)) {
    await sleep(waitMs);
    const status = await steps.observeDeliverableAgent({ runId });
    if (status !== 'running') {
      return status;
    }
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof scheduledDeliverable>(id, { runId });
    }
  }
}
