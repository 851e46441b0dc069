import { latestWorkflow, type Recording, type Stage } from './stage';

/** An inventory of what a workspace brings. */
export async function trustScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const { id } = await call.createTask({ title: 'Recorded', git: { repo: 'sample' } });
  await call.ok('GET', `/api/agents/${id}/workspace-trust`);
  return [['workspace-inventory', await latestWorkflow(temporal, 'workspaceInventory')]];
}
