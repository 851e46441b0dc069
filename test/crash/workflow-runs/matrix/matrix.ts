import { eventually } from '../../../../platform/testing/eventually';
import { nodeKinds } from '../../../../services/workflow-runs/graph/graph';
import { type Engine, type KilledPart, startEngine } from './engine';
import { childGraph, matrixRows } from './stages';

const slow = { withinMs: 120_000, everyMs: 100 };

/** The tests of a describe: a part of the engine is killed in the middle of each type of stage at once, and once more while they go on. */
export function testKills(part: KilledPart): void {
  let engine: Engine;
  const ids = new Map<string, string>();
  beforeAll(async () => {
    engine = await startEngine();
    const child = await engine.start(childGraph);
    await engine.call(`/runs/${child}/cancel`, {});
    for (const isShort of [false, true]) {
      const rows = matrixRows.filter((row) => (row.isShort ?? false) === isShort);
      for (const { graph } of rows) {
        ids.set(graph, await engine.start(`digraph { start -> ${graph.split(' ')[0]}; ${graph} }`));
      }
      await Promise.all(
        rows.map(({ graph, inMiddle }) =>
          eventually(() => inMiddle(engine, ids.get(graph)!), { ...slow, withinMs: 45_000 }),
        ),
      );
    }
    await engine.kill(part);
    for (const { graph, release } of matrixRows) {
      await release?.(engine, ids.get(graph)!);
    }
    engine.open();
    await engine.kill(part);
  }, 240_000);
  afterAll(() => engine.close());

  it('is of every type', () => {
    const ofAll = ['start', 'exit', 'join'];
    expect(new Set([...matrixRows.map(({ kind }) => kind), ...ofAll])).toEqual(new Set(nodeKinds));
  });

  it.each(matrixRows.map((row) => [`${row.kind}: ${row.graph.slice(0, 60)}`, row] as const))(
    'ends with it done once: %s',
    async (_title, { graph, status = 'completed', stages, tokens = 0, check }) => {
      const id = ids.get(graph)!;
      const run = await eventually(async () => {
        const read = await engine.call(`/runs/${id}`);
        expect(['completed', 'failed', 'cancelled']).toContain(read.status);
        return read;
      }, slow);
      expect(run).toMatchObject({ status });
      const read: Record<string, unknown>[] = [];
      for (let hasMore = true; hasMore;) {
        const page = await engine.call(`/runs/${id}/stages?page[limit]=100&page[offset]=${read.length}`);
        read.push(...page.data);
        hasMore = (page.meta as { has_more: boolean }).has_more;
      }
      expect(read.map((stage) => stage.id).sort()).toEqual([...stages].sort());
      const ended = read.filter((stage) => stage.id !== 'f').map((stage) => stage.status);
      expect(new Set(ended)).toEqual(new Set(['completed']));
      expect((await engine.call(`/runs/${id}/usage`)).totals).toMatchObject({ input_tokens: tokens });
      await check?.(engine, id);
    },
    150_000,
  );
}
