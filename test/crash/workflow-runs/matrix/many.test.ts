import { eventually } from '../../../../platform/testing/eventually';
import { type Engine, type KilledPart, startEngine } from './engine';

const counts = { tools: 60, prompts: 140 };
const items = (count: number, name: string) => Array.from({ length: count }, (_each, n) => `${name}-${n}`);
const graph = `digraph { start -> h -> m -> n -> exit; h [type=webhook]
  m [type=map, items="h_output.tools", each=tool, concurrency=20, server=ledger, tool=append, arguments="{\\"line\\":\\"\${item}\\"}"]
  n [type=map, items="h_output.prompts", concurrency=20, max_items=200, max_retries=10, prompt="ASK \${item}"] }`;
const parts: KilledPart[] = ['workflow-runs', 'model server', 'temporal'];

describe('a run of 200 stages, 20 at once, while all its processes are killed', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine();
  }, 120_000);
  afterAll(() => engine.close());

  it('ends with each of them done once', async () => {
    const { call, start, stages, kill, written } = engine;
    const id = await start(graph);
    const path = await eventually(async () => {
      const { data } = await call(`/runs/${id}/webhooks`);
      expect(data).toHaveLength(1);
      return new URL(String(data[0]!.url)).pathname;
    });
    await call(path, { tools: items(counts.tools, 'tool'), prompts: items(counts.prompts, 'prompt') });
    /** Each quarter of the stages, one more process. */
    const done = async () => (await stages(id)).filter(({ parent, status }) => parent && status === 'completed').length;
    for (const [index, part] of [...parts, ...parts].entries()) {
      await eventually(async () => expect(await done()).toBeGreaterThan(index * 25 + 5), { withinMs: 120_000 });
      await kill(part);
    }
    const ended = await eventually(
      async () => {
        const run = await call(`/runs/${id}`);
        expect(['completed', 'failed', 'cancelled']).toContain(run.status);
        return run;
      },
      { withinMs: 180_000 },
    );
    expect(ended).toMatchObject({ status: 'completed' });
    const all = await stages(id);
    expect(new Set(all.map((stage) => stage.id)).size).toBe(all.length);
    const ofItems = all.filter(({ parent }) => parent !== undefined);
    expect(ofItems.map((stage) => `${String(stage.id)} ${String(stage.status)}`).sort()).toEqual(
      [...items(counts.tools, 'm'), ...items(counts.prompts, 'n')]
        .map((each) => `${each.replace('-', ':')} completed`)
        .sort(),
    );
    const context = await call(`/runs/${id}/context`);
    expect(context).toMatchObject({
      m_output: items(counts.tools, 'tool').map((item) => `wrote ${item}`),
      n_output: items(counts.prompts, 'prompt').map((item) => `answer to ASK ${item}`),
    });
    expect(items(counts.tools, 'tool').filter((item) => written(`append ${item}`) !== 1)).toEqual([]);
    expect((await call(`/runs/${id}/usage`)).totals).toMatchObject({ input_tokens: 1_000 * counts.prompts });
  }, 420_000);
});
