import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { GraphError } from '../../../../services/workflow-runs/graph/compile';
import { createGraphCompiler } from '../../../../services/workflow-runs/graph/graph-compiler';

describe('graph compiler threads', () => {
  let directory: TempDir;
  beforeAll(async () => {
    directory = await makeTempDir('graph-compiler');
  });
  afterAll(() => directory.remove());

  test('read a graph, and report what is wrong with one', async () => {
    const compiler = createGraphCompiler();
    try {
      await expect(compiler.compile('digraph { start -> exit }')).resolves.toMatchObject({ start: 'start' });
      await expect(compiler.compile('digraph { start -> }')).rejects.toBeInstanceOf(GraphError);
      await expect(compiler.compile('digraph { start -> exit -> a }')).rejects.toMatchObject({
        problems: expect.arrayContaining([
          expect.stringMatching(/^Node "exit" \(line \d+, column \d+\) is an end; nothing follows it\.$/),
        ]),
      });
    } finally {
      await compiler.close();
    }
  });

  test('read a text once for those who ask at the same time and later, and again when it failed', async () => {
    const script = join(directory.path, 'counting.cjs');
    const counting = `let read = 0;
      module.exports = (source) => {
        read += 1;
        return source === 'wrong' ? { problems: [String(read)] } : { graph: { name: source, nodes: { read } } };
      };`;
    await writeFile(script, counting);
    const compiler = createGraphCompiler({ script, threads: 1 });
    try {
      const [first, second] = await Promise.all([compiler.compile('a'), compiler.compile('a')]);
      expect(first).toEqual({ name: 'a', nodes: { read: 1 } });
      expect([second, await compiler.compile('a')]).toEqual([first, first]);
      expect(Object.isFrozen(first.nodes)).toBe(true);
      await expect(compiler.compile('wrong')).rejects.toMatchObject({ problems: ['2'] });
      await expect(compiler.compile('wrong')).rejects.toMatchObject({ problems: ['3'] });
      for (let n = 0; n < 20; n += 1) {
        await compiler.compile(`other ${n}`);
      }
      await expect(compiler.compile('a')).resolves.toEqual({ name: 'a', nodes: { read: 24 } });
    } finally {
      await compiler.close();
    }
  });

  test('end with a text that takes too long, and another one is read', async () => {
    const script = join(directory.path, 'slow.cjs');
    await writeFile(
      script,
      "module.exports = (source) => { while (source === 'slow') {} return { graph: { name: source } } }",
    );
    const compiler = createGraphCompiler({ script, withinMs: 1_500, threads: 1, waiting: 1 });
    try {
      const slow = compiler.compile('slow');
      const next = compiler.compile('next');
      await expect(compiler.compile('one too many')).rejects.toMatchObject({ status: 429 });
      await expect(slow).rejects.toMatchObject({
        name: 'GraphCompileError',
        message: expect.stringContaining('1.5 s'),
      });
      await expect(next).resolves.toEqual({ name: 'next' });
    } finally {
      await compiler.close();
    }
  });

  test('end with a text that takes too much memory', async () => {
    const script = join(directory.path, 'large.cjs');
    await writeFile(
      script,
      'module.exports = () => { const all = []; for (;;) { all.push(new Array(100_000).fill(1.5)) } }',
    );
    const compiler = createGraphCompiler({ script, withinMs: 60_000 });
    try {
      await expect(compiler.compile('large')).rejects.toMatchObject({ name: 'GraphCompileError' });
    } finally {
      await compiler.close();
    }
  });
});
