import { latestWorkflow, type Recording, type Stage } from './stage';

/** A launch that a Schedule makes. */
export async function scheduledLaunchScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const { id: taskId } = await call.createTask({ title: 'Again', agent: 'elsewhere' });
  const { id } = await call.ok('POST', '/api/scheduled-launches', { taskId, spec: { cron: '0 3 * * *' } });
  await call.ok('POST', `/api/scheduled-launches/${id}/trigger`);
  return [['scheduled-launch', await latestWorkflow(temporal, 'scheduledLaunch')]];
}
