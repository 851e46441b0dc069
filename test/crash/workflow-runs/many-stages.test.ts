import { eventually } from '../../../platform/testing/eventually';
import { runWorkflowId } from '../../../services/workflow-runs/runs/execution/messages';
import { startWithModels, type WithModels } from '../../services/workflow-runs/models-under-test';
import { aRunClient, type RunClient } from '../../services/workflow-runs/runs/run-client';

let models: WithModels;
let runs: RunClient;
beforeAll(async () => {
  models = await startWithModels({ RATE_LIMIT_ENABLED: 'false' });
  runs = aRunClient(models.service);
});
beforeEach(() => models.provider.answers(() => ['well']));
afterAll(() => models.close());

/** Asks a model once for every four decisions. */
const graph = `digraph { loop_limit=1001; start -> ask; ask [prompt="Again?"]; ask -> b -> c -> d -> e
  b [shape=diamond]; c [shape=diamond]; d [shape=diamond]; e [shape=diamond]
  e -> ask [weight=1, max_traversals=999]; e -> exit }`;

async function historyLengths(id: string): Promise<number[]> {
  const lengths: number[] = [];
  const query = `WorkflowId = "${runWorkflowId(id)}"`;
  for await (const { historyLength } of models.service.temporal.client.workflow.list({ query })) {
    lengths.push(historyLength);
  }
  return lengths;
}

describe('a workflow run of 5,000 stages', () => {
  test('ends with each of them done once, within the limits of histories', async () => {
    const id = await runs.start(graph);
    await eventually(async () => expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'completed' }), {
      withinMs: 300_000,
    });
    const stages = await runs.stages(id);
    expect(stages).toHaveLength(5_002);
    expect(new Set(stages.map((stage) => stage.id)).size).toBe(5_002);
    expect(stages.filter(({ status }) => status !== 'completed')).toEqual([]);
    expect(stages.at(-1)).toMatchObject({ id: 'exit' });
    expect(models.provider.asked).toHaveLength(1_000);
    const { totals } = await runs.get(`/runs/${id}/usage`);
    expect(totals).toMatchObject({ input_tokens: 1_000_000, output_tokens: 50_000 });
    const names = await runs.eventNames(id);
    expect(names.filter((name) => name === 'StageCompleted')).toHaveLength(5_002);
    const lengths = await historyLengths(id);
    expect(lengths.length).toBeGreaterThan(1);
    expect(Math.max(...lengths)).toBeLessThan(5_000);
    expect(await runs.get(`/runs/${id}/checkpoint?checkpoint=e.1000`)).toMatchObject({ next_node_id: 'exit' });
  }, 360_000);
});

describe('a loop of a workflow run with 2,000 visits', () => {
  test('ends within the limits of histories, and its record has each visit', async () => {
    const id = await runs.start(`digraph { start -> a -> b; a [shape=diamond, max_visits=2000]
      b [shape=diamond, max_visits=2000]; b -> a [weight=1, max_traversals=1999]; b -> exit }`);
    await eventually(async () => expect(await runs.get(`/runs/${id}`)).toMatchObject({ status: 'completed' }), {
      withinMs: 300_000,
    });
    const stages = await runs.stages(id);
    expect(stages).toHaveLength(4_002);
    expect(stages.filter(({ dot_id: node }) => node === 'a')).toHaveLength(2_000);
    expect(Math.max(...(await historyLengths(id)))).toBeLessThan(5_000);
  }, 360_000);
});
