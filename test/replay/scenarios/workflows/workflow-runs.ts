import { eventually } from '../../../../platform/testing/eventually';
import { finishStep, launchedOfStep } from '../../../support/runs/workflow-steps';
import { latestWorkflow, type Recording, type Stage } from '../stage';

/** Runs of workflows of the board: one with a failure, branches and a gate, and one that is cancelled while its agent works. */
export async function workflowRunScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const path = '/api/workflows';
  const agent = 'coder';
  const steps = [
    { id: 'plan', type: 'agent', agent, input: 'Plan', on_fail: { escalate_to: 'human' } },
    {
      ...{ id: 'both', type: 'parallel' },
      parallel: {
        steps: [
          { id: 'left', agent, input: 'Left' },
          { id: 'right', agent, input: 'Right' },
        ],
      },
    },
  ];
  await call.ok('POST', path, { id: 'recorded', name: 'Recorded', agents: [{ id: agent, agent: 'elsewhere' }], steps });
  const begin = async () => (await call.ok('POST', `${path}/recorded/runs`, {})).id as string;
  const runId = await begin();
  await finishStep(call, { runId, stepId: 'plan' }, { status: 'failed', summary: 'No plan.', error: 'no plan' });
  await eventually(() => call.ok('POST', `${path}/runs/${runId}/steps/plan/approve`, {}));
  await finishStep(call, { runId, stepId: 'left' });
  await finishStep(call, { runId, stepId: 'right' });
  const cancelled = await begin();
  await launchedOfStep(call, { runId: cancelled, stepId: 'plan' });
  await call.ok('POST', `${path}/runs/${cancelled}/cancel`);
  const gate = [{ id: 'gate', type: 'gate' }];
  const schedule = { cron: '0 9 * * *' };
  await call.ok('POST', path, { id: 'timed', name: 'Timed', agents: [{ id: agent }], steps: gate, schedule });
  await temporal.schedule.getHandle('scheduled-workflow/timed').trigger();
  const scheduled = await latestWorkflow(temporal, 'scheduledWorkflow');
  return [
    ['scheduled-workflow', scheduled],
    ['board-workflow-run-2026-11', `workflow-run/${runId}`],
    ['board-workflow-run-cancelled-2026-11', `workflow-run/${cancelled}`],
  ];
}
