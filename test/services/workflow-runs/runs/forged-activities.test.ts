import { messageUnproven } from '../../../../platform/crypto/message-proof-shape';
import { runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { refused } from '../../../e2e/agents/forged-fixture';
import { type Forger, startForger } from '../../../support/workflows/forging';
import { runClient } from '../run-client';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';

describe('an activity that another worker schedules in the name of a run', () => {
  let service: WorkflowRunsUnderTest;
  let forger: Forger;
  let runId: string;
  beforeAll(async () => {
    service = await startServiceUnderTest();
    forger = await startForger(service.temporal, service.taskQueue);
    const client = runClient(() => service);
    runId = await client.start('digraph { start -> exit }');
    await client.untilStatus(runId, 'completed');
  });
  afterAll(async () => {
    await forger.close();
    await service.close();
  });

  test.each([
    ['runCommand', { stageId: 'a', attempt: 1, argv: ['/bin/sh', '-c', 'id'], preset: '', timeoutMs: 1_000 }],
    ['launchAgent', { stageId: 'a', key: 'k', task: { title: 'a', description: 'a', repository: 'a' }, agent: 'a' }],
    ['runPrompt', { stageId: 'a', messages: [] }],
    ['saveRun', { version: 1 }],
    ['cancelChildRuns', {}],
  ])('is refused: %s', async (activity, input) => {
    const schedule = forger.schedule(runWorkflowId(runId), activity, { runId, ...input });
    expect(await refused(schedule)).toBe(messageUnproven);
  });

  test('is not proven for it', async () => {
    const input = { activityType: 'runCommand', args: [{ runId }] };
    expect(await refused(forger.schedule(runWorkflowId(runId), 'signActivity', input))).toBe(messageUnproven);
  });
});
