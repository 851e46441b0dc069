import { eventually } from '../../../../platform/testing/eventually';
import { agentRunId } from '../../../../workflows/agent-run/messages';
import { reconcileId } from '../../../../workflows/reconcile/messages';
import type { Recording, Stage } from '../stage';

/** A run whose workflow was terminated while its agent worked, and the scan that found it. */
export async function lostScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  const { attemptId } = await call.start(id, { agent: 'long-bee' });
  await eventually(async () => {
    if ((await call.status(id)).lastSequence < 3) {
      throw new Error('not working yet');
    }
  });
  await temporal.workflow.getHandle(agentRunId(attemptId)).terminate('recorded');
  await temporal.schedule.getHandle(reconcileId).trigger();
  await call.ended(id);
  const look = await eventually(async () => {
    for await (const { workflowId } of temporal.workflow.list({
      query: 'WorkflowType = "reconcile" AND ExecutionStatus = "Completed"',
    })) {
      return workflowId;
    }
    throw new Error('no reconciliation has run yet');
  });
  return [
    ['agent-run-taken-up', agentRunId(attemptId)],
    ['reconcile', look],
  ];
}
