import { latestWorkflow, type Recording, type Stage } from './stage';

/** A host that checks a configured agent. */
export async function checkScenarios({ service: { call }, temporal }: Stage): Promise<Recording[]> {
  await call.ok('POST', '/api/config/agents/worker-bee/check', {});
  return [['agent-check', await latestWorkflow(temporal, 'agentCheck')]];
}
