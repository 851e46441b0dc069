import fc from 'fast-check';
import { compileGraph, GraphError } from '../../../../services/workflow-runs/graph/compile';
import { startServiceUnderTest, type WorkflowRunsUnderTest } from '../service-under-test';
import { aRunClient } from './run-client';

/** A piece of a graph that is entered at one node and left at one, built so that it can be run. */
type Block =
  | { kind: 'leaf'; attributes: string }
  | { kind: 'sequence' | 'fork'; parts: Block[] }
  | { kind: 'choice'; isFirst: boolean; first: Block; second: Block }
  | { kind: 'loop'; body: Block; times: number };

const leaf = fc
  .constantFrom('prompt="Hi"', 'shape=diamond', 'type=wait, duration="1ms"')
  .map((attributes): Block => ({ kind: 'leaf', attributes }));
const { block } = fc.letrec<{ block: Block }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.record({
      kind: fc.constant('sequence' as const),
      parts: fc.array(tie('block'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('fork' as const), parts: fc.array(tie('block'), { minLength: 2, maxLength: 3 }) }),
    fc.record({
      ...{ kind: fc.constant('choice' as const), isFirst: fc.boolean() },
      ...{ first: tie('block'), second: tie('block') },
    }),
    fc.record({ kind: fc.constant('loop' as const), body: tie('block'), times: fc.integer({ min: 0, max: 3 }) }),
  ),
}));

/** The text of a graph, and the visits of its nodes by an interpreter that knows nothing of the engine. */
function written(root: Block): { dot: string; lines: string[]; visits: Map<string, number> } {
  const lines: string[] = [];
  const visits = new Map<string, number>();
  const visit = (id: string): void => void visits.set(id, (visits.get(id) ?? 0) + 1);
  let count = 0;
  const node = (attributes: string): string => {
    const id = `n${(count += 1)}`;
    lines.push(`${id} [${attributes}];`);
    return id;
  };
  const edge = (from: string, to: string, attributes = ''): void =>
    void lines.push(`${from} -> ${to} [${attributes}];`);

  /** Writes a block; what it returns visits its nodes as a run does. */
  function write(part: Block): { entry: string; exit: string; run: () => void } {
    switch (part.kind) {
      case 'leaf': {
        const id = node(part.attributes);
        return { entry: id, exit: id, run: () => visit(id) };
      }
      case 'sequence': {
        const parts = part.parts.map(write);
        parts.slice(1).forEach(({ entry }, index) => edge(parts[index]!.exit, entry));
        return { entry: parts[0]!.entry, exit: parts.at(-1)!.exit, run: () => parts.forEach(({ run }) => run()) };
      }
      case 'fork': {
        const [entry, exit] = [node('shape=component'), node('shape=tripleoctagon')];
        const parts = part.parts.map(write);
        parts.forEach((each) => {
          edge(entry, each.entry);
          edge(each.exit, exit);
        });
        return {
          ...{ entry, exit },
          run: () => [() => visit(entry), ...parts.map(({ run }) => run), () => visit(exit)].forEach((run) => run()),
        };
      }
      case 'choice': {
        const [entry, exit] = [node('shape=diamond'), node('shape=diamond')];
        const [first, second] = [write(part.first), write(part.second)];
        edge(entry, first.entry, `condition="outcome=${part.isFirst ? 'success' : 'fail'}"`);
        edge(entry, second.entry);
        [first, second].forEach((each) => edge(each.exit, exit));
        const taken = part.isFirst ? first : second;
        return { entry, exit, run: () => [() => visit(entry), taken.run, () => visit(exit)].forEach((run) => run()) };
      }
      case 'loop': {
        const [entry, exit] = [node('shape=diamond'), node('shape=diamond')];
        const body = write(part.body);
        edge(entry, body.entry);
        edge(body.exit, exit);
        if (part.times > 0) {
          edge(exit, entry, `weight=1, max_traversals=${part.times}`);
        }
        // The bound is of the whole run.
        let left = part.times;
        const once = (): void => [() => visit(entry), body.run, () => visit(exit)].forEach((run) => run());
        return {
          ...{ entry, exit },
          run() {
            once();
            while (left > 0) {
              left -= 1;
              once();
            }
          },
        };
      }
    }
  }

  const { entry, exit, run } = write(root);
  // A node behind each block: edges of a run leave it by one way.
  const last = node('shape=diamond');
  lines.push(`start -> ${entry};`, `${exit} -> ${last} [];`, `${last} -> exit;`);
  run();
  [...['start', last, 'exit']].forEach(visit);
  return { dot: `digraph {\n${lines.join('\n')}\n}`, lines, visits };
}

const problemsOf = (dot: string): readonly string[] => {
  try {
    compileGraph(dot);
    return [];
  } catch (error) {
    if (error instanceof GraphError) {
      return error.problems;
    }
    throw error;
  }
};
/** What is of the whole text has no place in it. */
const ofTheWhole = /^(A graph (needs|may)|Graph: |With its defaults)/;
const isPlaced = (problem: string): boolean => /line \d+, column \d+/.test(problem) || ofTheWhole.test(problem);

describe('random graphs', () => {
  it('that are sound are accepted', () => {
    fc.assert(
      fc.property(block, (root) => {
        const { dot } = written(root);
        // Those beyond the limits are refused for these alone.
        expect(problemsOf(dot).filter((problem) => !/at most/.test(problem))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('that have lost a line, or have an edge too many, are accepted or refused with where it is wrong', () => {
    const damaged = fc.tuple(block, fc.nat(), fc.nat(), fc.nat()).map(([root, lost, from, to]) => {
      const { lines } = written(root);
      const kept = lines.filter((_line, index) => index !== lost % lines.length);
      const name = (n: number): string =>
        ['start', 'exit', ...lines.map((_line, index) => `n${index + 1}`)][n % (lines.length + 2)]!;
      return `digraph {\n${kept.join('\n')}\n${name(from)} -> ${name(to)};\n}`;
    });
    fc.assert(
      fc.property(damaged, (dot) => {
        expect(problemsOf(dot).filter((problem) => !isPlaced(problem))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('of any edges between nodes of any type, up to the limits, are read or refused, and never for ever', () => {
    const attributes = fc.constantFrom(
      'shape=component',
      'shape=tripleoctagon',
      'shape=diamond',
      'prompt="x"',
      'type=fail',
    );
    const dense = fc
      .tuple(
        fc.array(attributes, { minLength: 1, maxLength: 190, size: 'max' }),
        fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 900, size: 'max' }),
      )
      .map(([nodes, edges]) => {
        const name = (n: number): string =>
          n % (nodes.length + 1) === nodes.length ? 'exit' : `n${n % (nodes.length + 1)}`;
        return [
          ...['digraph {', 'start -> n0;', ...nodes.map((each, n) => `n${n} [${each}];`)],
          ...edges.map(([from, to]) => `${name(from)} -> ${name(to)};`),
          '}',
        ].join('\n');
      });
    fc.assert(
      fc.property(dense, (dot) => {
        expect(problemsOf(dot).filter((problem) => !isPlaced(problem))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  describe('that are sound', () => {
    let service: WorkflowRunsUnderTest;
    beforeAll(async () => {
      service = await startServiceUnderTest({ WORKFLOW_RUNS_CONCURRENCY: '10', RATE_LIMIT_ENABLED: 'false' });
    });
    afterAll(() => service.close());

    it('are run to their end, with the visits that an interpreter of its own has', async () => {
      const runs = aRunClient(service);
      await fc.assert(
        fc.asyncProperty(block, async (root) => {
          const { dot, visits } = written(root);
          fc.pre(problemsOf(dot).length === 0 && [...visits.values()].reduce((sum, times) => sum + times) < 150);
          const id = await runs.start(dot);
          await runs.untilStatus(id, 'completed');
          const stages = await runs.stages(id);
          const made = new Map<string, number>();
          stages.forEach(({ dot_id: node = '' }) => made.set(node, (made.get(node) ?? 0) + 1));
          expect([...made].sort()).toEqual([...visits].sort());
          expect(stages.every(({ status }) => status === 'completed')).toBe(true);
        }),
        { numRuns: 20 },
      );
    }, 120_000);
  });
});
