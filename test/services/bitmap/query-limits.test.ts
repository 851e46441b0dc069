import type { StartBitmapOptions } from '../../../services/bitmap/start';
import { decode, encode, protobufHeaders } from './protobuf';
import { type ServerUnderTest, serverUnderTest } from './server';

const opened: ServerUnderTest[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) {
    await server.remove();
  }
});

/** A server with the fields `x` and `y` of as many rows, each of one column that none of the other field has, and `a`. */
async function open(options: Partial<StartBitmapOptions> = {}, rows = 20): Promise<ServerUnderTest> {
  const server = await serverUnderTest({ bodyLimit: 16_777_216, ...options });
  opened.push(server);
  await server.call('POST', '/index/i');
  for (const field of ['a', 'x', 'y']) {
    await server.call('POST', `/index/i/field/${field}`);
  }
  const sets = Array.from({ length: rows }, (_, at) => `Set(${at}, x=${at}) Set(${rows + at}, y=${at})`);
  for (let from = 0; from < sets.length; from += 1_000) {
    const sent = await server.call('POST', '/index/i/query', sets.slice(from, from + 1_000).join(''));
    expect(sent).toMatchObject({ status: 200 });
  }
  return server;
}

/** Compares each row of `x` with each of `y`. */
const long = 'GroupBy(Rows(x), Rows(y), Rows(x))';
const empty = '{"results":[[]]}';
const refused = (message: string) => ({ status: 400, text: expect.stringContaining(message) });

describe('the limits of a query', () => {
  it('bound the groups of GroupBy, and the fields that it combines', async () => {
    const server = await open({ limits: { groups: 19, levels: 3 } });
    const ask = (text: string) => server.call('POST', '/index/i/query', text);
    expect(await ask('GroupBy(Rows(x))')).toMatchObject(refused('more than 19 groups; ask for a part of them'));
    for (const part of ['limit=19', 'offset=1', 'limit=5, offset=15', 'filter=Row(x=3)']) {
      expect(await ask(`GroupBy(Rows(x), ${part})`)).toMatchObject({ status: 200 });
    }
    expect(await ask('GroupBy(Rows(x), Rows(x), Rows(x), Rows(x))')).toMatchObject(refused('at most 3 Rows'));
  });

  it('bound the size of its answer', async () => {
    const server = await open({ limits: { answerBytes: 200 } });
    const ask = (text: string, args = '') => server.call('POST', `/index/i/query${args}`, text);
    await ask(`SetRowAttrs(a, 1, name="${'n'.repeat(150)}") SetRowAttrs(a, 2, name="${'n'.repeat(150)}")`);
    await ask(`SetColumnAttrs(3, name="${'n'.repeat(250)}")`);
    await ask(Array.from({ length: 60 }, (_, at) => `Set(${at * 1_000}, a=1)`).join(''));
    await server.call('POST', '/recalculate-caches');
    for (const text of ['Row(a=1)', 'Rows(x)', 'TopN(x)', 'GroupBy(Rows(x))', 'Row(a=2) Row(a=2)']) {
      expect(await ask(text)).toMatchObject(refused('the answer has more than 200 bytes; ask for a part'));
    }
    expect(await ask('Row(x=3)', '?columnAttrs=true')).toMatchObject(refused('more than 200 bytes'));
    for (const text of [
      'Count(Row(a=1))',
      'Rows(x, limit=10)',
      'TopN(x, n=3)',
      'Options(Row(a=1), excludeColumns=true)',
    ]) {
      expect(await ask(text)).toMatchObject({ status: 200 });
    }
    const body = encode('QueryRequest', { Query: 'Row(a=1)' });
    const binary = await server.call('POST', '/index/i/query', body, protobufHeaders);
    expect([binary.status, decode('QueryResponse', binary.bytes)]).toEqual([
      400,
      { Err: expect.stringContaining('200 bytes') },
    ]);
  });

  it('bound the sets that it makes on the way, and no stored ones', async () => {
    const server = await open({ limits: { memoryBytes: 2_000 } });
    const ask = (text: string) => server.call('POST', '/index/i/query', text);
    const nested = (depth: number): string =>
      depth === 0 ? 'Row(x=1)' : `Union(Shift(Row(x=1), n=1), ${nested(depth - 1)})`;
    expect(await ask(`Count(${nested(20)})`)).toMatchObject(refused('holds more than 2000 bytes of columns'));
    const many = Array.from({ length: 500 }, () => 'Row(x=1)').join();
    expect(await ask(`Count(Xor(${many})) Count(Intersect(${many})) Count(Difference(${many}))`)).toMatchObject({
      status: 200,
      text: '{"results":[0,1,0]}\n',
    });
    const shifted = Array.from({ length: 500 }, () => 'Shift(Row(x=1), n=2)').join();
    expect(await ask(`Count(Xor(${shifted}))`)).toMatchObject({ status: 200 });
  });

  it('bound the shards that it is limited to, and its text', async () => {
    const server = await open({ limits: { shards: 3 } });
    const ask = (text: string, args = '') => server.call('POST', `/index/i/query${args}`, text);
    expect(await ask('Count(Row(x=1))', '?shards=0,1,2')).toMatchObject({ status: 200 });
    expect(await ask('Count(Row(x=1))', '?shards=0,1,2,3')).toMatchObject(refused('at most 3 shards'));
    expect(await ask('Options(Row(x=1), shards=[0,1,2,3])')).toMatchObject(refused('at most 3 shards'));
    expect(await ask(`Count(Row(x=1))${' '.repeat(4_194_304)}`)).toMatchObject({ status: 413 });
    expect(await ask(`Count(Row(x=1))${' '.repeat(4_000_000)}`)).toMatchObject({ status: 200 });
  });

  it('bound the writes of a query, also in Options', async () => {
    const server = await open();
    const text = Array.from({ length: 5_001 }, (_, at) => `Options(Set(${at}, a=5))`).join('');
    expect(await server.call('POST', '/index/i/query', text)).toMatchObject(refused('too many write commands'));
    expect(await server.query('i', 'Count(Row(a=5))')).toBe('{"results":[0]}');
  });

  it('bound its time', async () => {
    const server = await open({}, 600);
    await server.restart({ queryTimeoutMs: 20 });
    expect(await server.call('POST', '/index/i/query', long)).toMatchObject(refused('took longer than 20 ms'));
    await server.restart();
    expect(await server.query('i', 'Count(Row(x=1))')).toBe('{"results":[1]}');
  });

  it('bound the time of one that writes, whose earlier calls stay', async () => {
    const server = await open({ limits: { writeMs: 1 } }, 0);
    const sets = Array.from({ length: 5_000 }, (_, at) => `Set(${at}, a=7)`).join('');
    expect(await server.call('POST', '/index/i/query', sets)).toMatchObject(refused('took longer than 1 ms'));
    const [count] = JSON.parse(await server.query('i', 'Count(Row(a=7))')).results;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(5_000);
    await server.restart();
    expect(await server.query('i', 'Count(Row(a=7))')).toBe(`{"results":[${count}]}`);
  });
});

describe('a long query', () => {
  it('holds up no other callers, neither readers nor writers', async () => {
    const server = await open({}, 1_000);
    const order: string[] = [];
    const ask = async (text: string): Promise<string> => {
      const answer = await server.query('i', text);
      order.push(text);
      return answer;
    };
    const slow = ask(long);
    const short = ['Count(Row(x=1))', 'Set(1, a=9)'];
    for (const text of short) {
      await ask(text);
    }
    expect(await slow).toBe(empty);
    expect(order).toEqual([...short, long]);
  });

  it('is refused while as many are under way as may be', async () => {
    const server = await open({ maxLongQueries: 1 }, 600);
    const answers = await Promise.all([1, 2, 3].map(() => server.call('POST', '/index/i/query', long)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
    const { text } = answers.find(({ status }) => status === 429)!;
    expect(text).toContain('too many long queries are under way');
    expect(await server.query('i', long)).toBe(empty);
  });
});
