import { forgeCheckId } from '../../../workflows/forge-check/messages';
import { boardQueue } from '../../../workflows/queues';
import { latestWorkflow, type Recording, type Stage } from './stage';

/** Workers that check a configured agent, and the forge of a repository that has none. */
export async function checkScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  await call.ok('POST', '/api/config/agents/worker-bee/check', {});
  await temporal.workflow.execute('forgeCheck', {
    workflowId: forgeCheckId('sample', 'recorded'),
    taskQueue: boardQueue,
    args: [{ repo: 'sample' }],
  });
  await call.ok('POST', '/api/tool-servers', {
    id: 'recorded',
    displayName: 'Recorded',
    transport: { kind: 'stdio', command: 'no-such-tool-server' },
  });
  await call.ok('POST', '/api/tool-servers/recorded/discover', {});
  return [
    ['tool-discovery', await latestWorkflow(temporal, 'toolDiscovery')],
    ['agent-check', await latestWorkflow(temporal, 'agentCheck')],
    ['forge-check', await latestWorkflow(temporal, 'forgeCheck')],
  ];
}

/** A host that inspects a repository, and lists its branches. */
export async function repositoryViewScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  const { repos } = await call.ok('GET', '/api/config/repos');
  await call.ok('POST', '/api/config/repos/validate', { path: repos[0].path });
  await call.ok('GET', '/api/config/repos/sample/branches');
  return [
    ['repository-inspection', await latestWorkflow(temporal, 'repositoryInspection')],
    ['repository-branches', await latestWorkflow(temporal, 'repositoryBranches')],
  ];
}

/** A host that records the settings of a repository. */
export async function repositoryScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  await call.ok('POST', '/api/config/repos/sample/reread');
  return [['repository-setup', await latestWorkflow(temporal, 'repositorySetup')]];
}
