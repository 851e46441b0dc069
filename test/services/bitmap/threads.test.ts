import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { answerJson } from '../../../services/bitmap/answers/json';
import { executeWith, type QueryOptions } from '../../../services/bitmap/query/execute';
import { defaultLimits } from '../../../services/bitmap/query/limits';
import { Slices } from '../../../services/bitmap/query/slices';
import { type ThreadOptions, Threads } from '../../../services/bitmap/threads/threads';
import { type IndexUnderTest, indexUnderTest } from './index-under-test';
import { serverUnderTest } from './server';
import { heldThreads, startThread } from './thread';

const log = createLog({ name: 'bitmap', level: 'silent' });

const opened: Threads[] = [];
afterEach(async () => {
  for (const threads of opened.splice(0)) {
    await threads.close();
  }
});

/** Threads that get everything that can be given away. */
function threadsUnderTest(options: Partial<ThreadOptions> = {}): Threads {
  const all = { threads: 2, log, heavyMs: 0, creditMs: Infinity, maxHereMs: Infinity, startThread, ...options };
  const threads = Threads.of(all);
  if (!threads) {
    throw new Error('there are no threads');
  }
  opened.push(threads);
  return threads;
}

/** One call after the other, without a pause: what a test writes then comes after all of them were read. */
const slices = new Slices(64, Infinity);

/** The result as a text, or the message of a query that fails. */
async function answer(i: IndexUnderTest, threads: Threads, query: string, options?: QueryOptions): Promise<string> {
  const execution = { threads, slices, catalog: i.catalog, index: i.index, options };
  try {
    return [...answerJson(await executeWith(execution, query))].join('').trimEnd();
  } catch (error) {
    return (error as Error).message;
  }
}

const expected = (i: IndexUnderTest, query: string, options?: QueryOptions): string => {
  try {
    return i.text(query, options);
  } catch (error) {
    return (error as Error).message;
  }
};

const segment = 2 ** 24;
const page = 2 ** 32;
const columns = fc.uniqueArray(
  fc.oneof(
    fc.nat(20),
    fc.constantFrom(65_536, segment - 1, segment, 7 * segment + 5, page - 1, page, page + segment, 3 * page + 1),
  ),
  { maxLength: 12 },
);
const rowId = fc.nat(4);
const field = fc.constantFrom('a', 'b');

const rowCall = fc.tuple(field, rowId).map(([name, id]) => `Row(${name}=${id})`);
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 20, arbitrary: rowCall },
    {
      weight: 10,
      arbitrary: fc
        .tuple(fc.constantFrom('Union', 'Intersect', 'Difference', 'Xor'), fc.array(tie('tree'), { maxLength: 3 }))
        .map(([name, children]) => `${name}(${children.join(', ')})`),
    },
    { weight: 2, arbitrary: fc.constantFrom('Row(v > 3)', 'Not(Row(a=1))', 'Shift(Row(a=0), n=3)') },
    { weight: 1, arbitrary: fc.constantFrom('Row(none=1)', 'Row(a=x)') },
  ),
}));
const filter = fc.option(tree, { nil: undefined });
const argument = (name: string, values: fc.Arbitrary<string | number>): fc.Arbitrary<string> =>
  fc.option(values, { nil: undefined }).map((value) => (value === undefined ? '' : `, ${name}=${String(value)}`));

const call = fc.oneof(
  { weight: 4, arbitrary: tree.map((one) => `Count(${one})`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        field,
        filter,
        argument('n', fc.nat(3)),
        argument('threshold', fc.nat(4)),
        argument('tanimotoThreshold', fc.constantFrom(0, 1, 30, 60, 100)),
        argument('ids', fc.constantFrom('[1]', '[0, 2, 4, 9]')),
      )
      .map(([name, within, ...rest]) => `TopN(${name}${within === undefined ? '' : `, ${within}`}${rest.join('')})`),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(field, { maxLength: 3 }), filter, argument('limit', fc.nat(30)), argument('offset', fc.nat(5)))
      .map(
        ([fields, within, ...rest]) =>
          `GroupBy(${fields.map((name) => `Rows(${name})`).join(', ')}${within === undefined ? '' : `, filter=${within}`}${rest.join('')})`,
      ),
  },
  fc.constantFrom('Sum(field=v)', 'Rows(a)', 'Options(TopN(a, Row(a=1)), shards=[0])'),
  fc.constantFrom('Row(a=1)', 'Options(Row(b=1), excludeColumns=true)'),
);
const query = fc.array(call, { minLength: 1, maxLength: 3 }).map((calls) => calls.join(' '));

const write = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(columns, field, rowId)
      .map(([list, name, id]) => list.map((column) => `Set(${column}, ${name}=${id})`).join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(columns, field, rowId)
      .map(([list, name, id]) => list.map((column) => `Clear(${column}, ${name}=${id})`).join('')),
  },
  fc.tuple(tree, field, rowId).map(([one, name, id]) => `Store(${one}, ${name}=${id})`),
  fc.tuple(field, rowId).map(([name, id]) => `ClearRow(${name}=${id})`),
  fc.constant('Set(3, v=5)Set(9, v=1)'),
  fc.constant('remove b'),
);

describe('threads of queries', () => {
  it('threads answer what the main thread answers, whatever is written in between', async () => {
    const threads = threadsUnderTest();
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ write, query, shards: fc.option(fc.constantFrom([0], [0, 4096], [7]), { nil: undefined }) }),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
        async (steps) => {
          const i = indexUnderTest();
          for (const name of ['a', 'b']) {
            i.field(name);
          }
          i.field('v', { type: 'int', min: 0, max: 100 });
          for (const step of steps) {
            const b = i.index.fields.get('b');
            if (step.write !== 'remove b') {
              expected(i, step.write);
            } else if (b) {
              i.catalog.remove(b);
            } else {
              i.field('b');
            }
            i.recalculate();
            const options = { shards: step.shards };
            // Once when copies are made, and once when they, and counts, are known.
            for (let time = 0; time < 2; time += 1) {
              expect([step.query, await answer(i, threads, step.query, options)]).toEqual([
                step.query,
                expected(i, step.query, options),
              ]);
            }
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(threads.counted).toBeGreaterThan(100);
  });

  /** Rows 0 to 39 of a field, each of every so many columns of a few segments. */
  function filled(): IndexUnderTest {
    const i = indexUnderTest();
    i.field('a');
    const catalogField = i.index.fields.get('a');
    if (!catalogField) {
      throw new Error('there is no field');
    }
    for (let row = 0; row < 40; row += 1) {
      const list = Uint32Array.from({ length: 2_000 }, (_, at) => at * 20_011 + row * 7 * (at % 3));
      i.catalog.write({
        kind: 'listed',
        target: catalogField.number,
        view: '',
        row,
        columns: new Map([[0, list.sort()]]),
      });
    }
    i.recalculate();
    return i;
  }
  const heavy = [
    'Count(Union(Row(a=1), Row(a=2), Row(a=3)))',
    'TopN(a, Union(Row(a=1), Row(a=2)), n=5)',
    'TopN(a, Row(a=7), n=5)',
    'GroupBy(Rows(a), Rows(a), limit=100)',
  ].join(' ');

  it('several callers at once get their answers', async () => {
    const i = filled();
    const threads = threadsUnderTest();
    const answers = await Promise.all(Array.from({ length: 20 }, () => answer(i, threads, heavy)));
    expect(new Set(answers)).toEqual(new Set([expected(i, heavy)]));
    expect(threads.size).toBe(2);
  });

  it('a write while threads count is not seen by them, and is by the next query', async () => {
    const i = filled();
    const held = heldThreads();
    const threads = threadsUnderTest(held);
    const before = expected(i, heavy);
    const asked = answer(i, threads, heavy);
    i.run('Clear(0, a=1) Clear(0, a=2) Clear(0, a=3) ClearRow(a=7) Set(5, a=2)');
    held.release();
    expect(await asked).toBe(before);
    const after = expected(i, heavy);
    expect(after).not.toBe(before);
    expect(await answer(i, threads, heavy)).toBe(after);
  });

  it('counting that takes longer than the query may is given up, and the threads count the next one', async () => {
    const i = filled();
    const held = heldThreads();
    const threads = threadsUnderTest(held);
    const limits = { ...defaultLimits, ms: 1_500 };
    const execution = { threads, slices, catalog: i.catalog, index: i.index };
    const late = executeWith({ ...execution, limits }, 'Count(Union(Row(a=1), Row(a=2)))');
    const isLate = Promise.resolve(late).catch((error: unknown) => (error as Error).message);
    const until = Date.now() + limits.ms;
    await eventually(async () => expect(Date.now()).toBeGreaterThan(until));
    held.release();
    expect(await isLate).toBe('executing: counting took longer than it may');
    expect(await answer(i, threads, heavy)).toBe(expected(i, heavy));
  });

  it('a thread that dies in the middle loses no query', async () => {
    const i = filled();
    const held = heldThreads();
    const started: Worker[] = [];
    const threads = threadsUnderTest({
      startThread: () => {
        const thread = started.length < 2 ? held.startThread() : startThread();
        started.push(thread);
        return thread;
      },
    });
    const asked = [answer(i, threads, heavy), answer(i, threads, heavy)];
    expect(started).toHaveLength(2);
    await Promise.all(started.map((thread) => thread.terminate()));
    expect(await Promise.all(asked)).toEqual([expected(i, heavy), expected(i, heavy)]);
    expect(started.length).toBeGreaterThan(2);
  });

  it.each([
    ['end at once', () => new Worker('process.exit(1)', { eval: true })],
    ['fail', () => new Worker('throw new Error("no thread")', { eval: true })],
    [
      'cannot be started',
      () => {
        throw new Error('no more threads');
      },
    ],
  ])('the main thread answers where threads %s', async (_what, start) => {
    const i = filled();
    const threads = threadsUnderTest({ startThread: start });
    for (let time = 0; time < 3; time += 1) {
      expect(await answer(i, threads, heavy)).toBe(expected(i, heavy));
    }
    // They are not tried for ever.
    const { counted } = threads;
    expect(await answer(i, threads, heavy)).toBe(expected(i, heavy));
    expect(threads.counted).toBe(counted);
  });

  it('closing ends threads, and what they have not answered', async () => {
    const i = filled();
    const held = heldThreads();
    const threads = threadsUnderTest(held);
    const asked = answer(i, threads, heavy);
    const ends = held.started.map((thread) => new Promise((resolve) => thread.once('exit', resolve)));
    await threads.close();
    await Promise.all(ends);
    expect(ends.length).toBeGreaterThan(0);
    expect(threads.size).toBe(0);
    expect(await asked).toBe('the server is ending');
    expect(await answer(i, threads, heavy)).toBe(expected(i, heavy));
  });

  it('threads and copies go when there is nothing to do, and come again', async () => {
    const i = filled();
    const threads = threadsUnderTest({ idleMs: 1 });
    for (let time = 0; time < 2; time += 1) {
      expect(await answer(i, threads, heavy)).toBe(expected(i, heavy));
      await eventually(() => expect([threads.size, threads.copiedBytes]).toEqual([0, 0]));
      i.run('Set(17, a=2)');
    }
  });

  it('what would take more memory than there is for copies is counted by the main thread', async () => {
    const i = filled();
    const threads = threadsUnderTest({ mostBytes: 60_000 });
    const counts = Array.from({ length: 40 }, (_, row) => `Count(Union(Row(a=${row}), Row(a=${(row + 1) % 40})))`);
    for (const one of [...counts, heavy, ...counts]) {
      expect(await answer(i, threads, one)).toBe(expected(i, one));
      expect(threads.copiedBytes).toBeLessThanOrEqual(60_000);
    }
    expect(threads.counted).toBeGreaterThan(0);
  });

  it('copies are not made where they would cost more than they save', async () => {
    const i = filled();
    const threads = threadsUnderTest({ creditMs: -1_000_000 });
    expect(await answer(i, threads, 'Count(Union(Row(a=1), Row(a=2)))')).toBe(
      expected(i, 'Count(Union(Row(a=1), Row(a=2)))'),
    );
    expect(threads.counted).toBe(0);
  });

  it('others are answered while threads count, and a query that fails is refused as before', async () => {
    const held = heldThreads();
    const server = await serverUnderTest({
      threads: 2,
      threadOptions: { heavyMs: 0, creditMs: Infinity, startThread: held.startThread },
    });
    try {
      await server.call('POST', '/index/i');
      await server.call('POST', '/index/i/field/a');
      await server.query('i', 'Set(1, a=1) Set(2, a=1) Set(2, a=2) Set(99999999, a=2)');
      await server.call('POST', '/recalculate-caches');
      const answered: string[] = [];
      const texts = ['Count(Union(Row(a=1), Row(a=2)))', 'TopN(a, Row(a=1))'];
      const asked = texts.flatMap((text) => [
        server.query('i', text).then((result) => answered.push(result)),
        // Through the middleware.
        server
          .call('POST', '/index/i/query', text, { Accept: 'application/json;q=0.9' })
          .then((reply) => answered.push(reply.text.trimEnd())),
      ]);
      await eventually(async () =>
        expect((await server.call('GET', '/metrics')).text).toMatch(/^bitmap_threads_counted 4$/m),
      );
      expect(await server.query('i', 'Count(Row(a=1))')).toBe('{"results":[2]}');
      expect(await server.query('i', 'Set(3, a=1)')).toBe('{"results":[true]}');
      const wrong = 'Count(Union(Row(a=1), Row(a=2))) Count(Union(Row(a=1), Row(none=2)))';
      expect(await server.query('i', wrong)).toBe('{"error":"executing: field not found: none (line 1, column 60)"}');
      expect(answered).toEqual([]);
      held.release();
      await Promise.all(asked);
      const top = '{"results":[[{"id":1,"count":2},{"id":2,"count":1}]]}';
      expect(answered.sort()).toEqual([top, top, '{"results":[3]}', '{"results":[3]}'].sort());
    } finally {
      held.release();
      await server.remove();
    }
  });
});
