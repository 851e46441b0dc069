import { ulid } from 'ulid';
import { createWorkflowRunStore, type WorkflowRunRecord } from '../../../stores/runs/workflows/workflow-run-store';
import { agentKey, type ApiUnderTest, startWholeTestApi } from '../api-under-test';

const path = '/api/workflows/launch-recommendations';

describe('recommendations of launches', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  const get = async (query = '', key?: string) =>
    board.call('GET', `${path}${query}`, { ...(key !== undefined && { key }) });
  const define = async (id: string): Promise<void> => {
    const body = { id, name: `The ${id}`, agents: [{ id: 'a' }], steps: [{ id: 'one', type: 'gate' }] };
    expect((await board.call('POST', '/api/workflows', { body })).status).toBe(201);
  };
  const store = () => createWorkflowRunStore(board.api.context.database);
  /** Runs that have ended: `+` completed, `-` failed, `x` cancelled. */
  async function ended(workflowId: string, outcomes: string, taskType?: string): Promise<void> {
    const runs = await store();
    for (const each of outcomes) {
      const status = each === '+' ? 'completed' : each === '-' ? 'failed' : 'cancelled';
      const run: WorkflowRunRecord = {
        ...{ _id: ulid(), status, workflow: { name: workflowId, slug: workflowId }, title: 'Run', dot_source: '{}' },
        ...{ created_by: 'ada', stages: [], context: {}, guidance: [], revision: 1 },
        ...{ created_at: '2026-01-01T00:00:00.000Z', started_at: '2026-01-01T00:00:00.000Z' },
        ended_at: '2026-01-01T00:02:00.000Z',
        board: { workflowId, version: 1, taskId: null, resumedFrom: null, steps: [], ...(taskType && { taskType }) },
      };
      await runs.begin(run);
    }
  }

  it('are none without workflows and without runs, with the reason', async () => {
    expect((await get()).body).toEqual({
      ...{ taskType: null, recommendations: [], reason: 'There is no workflow that you may run.' },
    });
    await define('empty');
    expect((await get('?minSamples=2')).body).toMatchObject({
      ...{ recommendations: [], reason: 'No workflow that you may run has 2 ended runs of which one succeeded.' },
    });
  });

  it('are the workflows that the caller may run, by what their runs speak for', async () => {
    await define('steady');
    await define('lucky');
    await ended('steady', '++++++++-x', 'bug');
    await ended('lucky', '+++', 'docs');
    await ended('gone', '+++++');
    const { status, body } = await get();
    expect({ status, ids: body.recommendations.map(({ workflowId }: { workflowId: string }) => workflowId) }).toEqual({
      ...{ status: 200, ids: ['steady', 'lucky'] },
    });
    expect(body.recommendations[0]).toEqual({
      ...{ workflowId: 'steady', name: 'The steady', version: 1, samples: 9, successes: 8, successRate: 0.889 },
      ...{ score: 0.565, medianDurationMs: 120_000, lastEndedAt: '2026-01-01T00:02:00.000Z' },
    });
    expect(body.reason).toBeNull();
    expect((await get('?limit=1')).body.recommendations).toHaveLength(1);
    // An agent that may run none of them is recommended none.
    expect((await get('', agentKey)).body.recommendations).toEqual([]);
    await board.call('PUT', '/api/workflows/lucky/access', { body: { executors: ['agent:worker'] } });
    expect((await get('', agentKey)).body.recommendations).toMatchObject([{ workflowId: 'lucky' }]);
  });

  it('count the runs for tasks of one type', async () => {
    const task = await board.createTask({ type: 'docs' });
    expect((await get(`?taskId=${task.id}`)).body).toMatchObject({
      ...{ taskType: 'docs', recommendations: [{ workflowId: 'lucky', samples: 3 }] },
    });
    expect((await get('?taskType=bug')).body.recommendations).toMatchObject([{ workflowId: 'steady' }]);
    expect((await get('?taskType=chore')).body.reason).toContain('for a task of the type chore');
  });

  it.each([
    ['a task and a type', '?taskId=task_20260101_abcdef&taskType=x', 400],
    ['a task that there is not', '?taskId=task_20260101_abcdef', 404],
    ['too few samples', '?minSamples=0', 400],
    ['an unknown parameter', '?colour=red', 400],
  ])('are refused for %s', async (_case, query, status) => {
    expect((await get(query)).status).toBe(status);
  });
});
