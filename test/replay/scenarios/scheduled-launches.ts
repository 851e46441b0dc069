import { eventually } from '../../../platform/testing/eventually';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** A launch that a Schedule makes. */
export async function scheduledLaunchScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const { id: taskId } = await call.createTask({ title: 'Again', agent: 'elsewhere' });
  const { id } = await call.ok('POST', '/api/scheduled-launches', { taskId, spec: { cron: '0 3 * * *' } });
  await call.ok('POST', `/api/scheduled-launches/${id}/trigger`);
  return [['scheduled-launch', await latestWorkflow(temporal, 'scheduledLaunch')]];
}

/** Runs of scheduled deliverables: one that is due for a person, and one whose agent is stopped. */
export async function scheduledDeliverableScenarios({ service: { call } }: Stage): Promise<Recording[]> {
  const report = { name: 'Report', description: 'What was done.', schedule: 'daily' };
  const run = async (fields: object) => {
    const { id } = await call.ok('POST', '/api/deliverables', { ...report, ...fields });
    const { runId } = await call.ok('POST', `/api/deliverables/${id}/run`);
    return { id: id as string, workflowId: `scheduled-deliverable/${id}/${runId}` };
  };
  const due = await run({});
  const { id, workflowId } = await run({ agent: 'elsewhere' });
  await eventually(async () => {
    const [{ taskId, attemptId }] = await call.ok('GET', `/api/deliverables/${id}/runs`);
    await call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  });
  return [
    ['scheduled-deliverable-due', due.workflowId],
    ['scheduled-deliverable-agent', workflowId],
  ];
}
