import { dispatchId, runWorkflowId } from '../../../../services/workflow-runs/runs/execution/messages';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';
import { aRunClient, type RunClient } from './run-client';

const short = 'digraph Short { start -> exit }';

let service: WorkflowRunsUnderTest;
let runs: RunClient;
beforeAll(async () => {
  service = await startServiceUnderTest({ WORKFLOW_RUNS_CONCURRENCY: '2' }, { reconcileEveryMs: 600_000 });
  runs = aRunClient(service);
});
afterAll(() => service.close());

const workflowOf = (id: string) => service.temporal.client.workflow.getHandle(runWorkflowId(id));

/** How often the dispatcher that has started a run was signalled. */
async function signals(id: string): Promise<number> {
  const { taskQueue } = await workflowOf(id).describe();
  const { events } = await service.temporal.client.workflow.getHandle(dispatchId(taskQueue)).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

describe('the dispatcher of runs', () => {
  it('is signalled by no run that ends while none is queued', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const id = await runs.start(short);
      await runs.untilStatus(id, 'completed');
      await workflowOf(id).result();
      ids.push(id);
    }
    expect(await signals(ids[0] ?? '')).toBeLessThanOrEqual(ids.length);
  });

  it('starts every run that is queued while it looks', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => runs.start(short)));
    const ended = await Promise.all(ids.map((id) => runs.untilStatus(id, 'completed')));
    expect(ended).toHaveLength(ids.length);
    expect(await signals(ids[0] ?? '')).toBeGreaterThan(0);
  });
});
