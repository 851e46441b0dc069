import { latestWorkflow, type Recording, type Stage } from './stage';

/** A host that records the settings of a repository. */
export async function repositoryScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  await call.ok('POST', '/api/config/repos/sample/reread');
  return [['repository-setup', await latestWorkflow(temporal, 'repositorySetup')]];
}
