import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await serverUnderTest({ bodyLimit: 100_000 });
});
afterAll(() => server.remove());

const post = (path: string, body?: string) => server.call('POST', path, body);
const get = (path: string, headers?: Record<string, string>) => server.call('GET', path, undefined, headers);
const remove = (path: string) => server.call('DELETE', path);
const outcome = async (reply: Promise<{ status: number; text: string }>): Promise<[number, string]> => {
  const { status, text } = await reply;
  return [status, text.trimEnd()];
};

const success = '{"success":true}';
const failure = (message: string) => JSON.stringify({ success: false, error: { message } });

describe('indexes', () => {
  it('are created, listed and removed', async () => {
    expect(await outcome(get('/index'))).toEqual([200, '{"indexes":[]}']);
    expect(await outcome(post('/index/one'))).toEqual([200, success]);
    expect(await outcome(post('/index/one'))).toEqual([409, failure('creating index: index already exists')]);
    expect(await outcome(get('/index/one'))).toEqual([
      200,
      '{"name":"one","options":{"keys":false,"trackExistence":true},"fields":null,"shardWidth":1048576}',
    ]);
    expect((await post('/index/two', '{"options":{"keys":true,"trackExistence":false}}')).status).toBe(200);
    expect((await get('/schema')).text).toContain('"name":"two","options":{"keys":true,"trackExistence":false}');
    expect(await outcome(remove('/index/two'))).toEqual([200, success]);
    expect(await outcome(remove('/index/two'))).toEqual([404, failure('deleting index: index not found')]);
    expect(await outcome(get('/index/two'))).toEqual([404, 'Index two Not Found']);
  });

  it.each([
    ['Upper', undefined],
    ['1a', undefined],
    ['a'.repeat(65), undefined],
    ['a%2Fb', undefined],
    ['fine', '{'],
    ['fine', '{"options":{"keys":1}}'],
    ['fine', '{"other":1}'],
    ['fine', '{"options":{"__proto__":1}}'],
  ])('are refused: %s %s', async (name, body) => {
    const { status, text } = await post(`/index/${name}`, body);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ success: false, error: { message: expect.any(String) } });
  });

  it('are refused with a body, and asked with a query, that is not UTF-8', async () => {
    const bytes = Buffer.from('{"options":{"keys":true,"\u00e9":1}}', 'latin1');
    const refused = await server.call('POST', '/index/fine', bytes);
    expect([refused.status, refused.text.trimEnd()]).toEqual([400, failure('The bytes are not valid UTF-8.')]);
    await post('/index/utf8');
    const query = Buffer.from('Row(f="caf\u00e9")', 'latin1');
    for (const headers of [{ Accept: '*/*' }, { Accept: 'application/json, text/plain' }]) {
      const asked = await server.call('POST', '/index/utf8/query', query, headers);
      expect([asked.status, asked.text]).toEqual([400, expect.stringContaining('not valid UTF-8')]);
    }
    await remove('/index/utf8');
  });

  it('are refused with an unknown option that is nested however deeply', async () => {
    const deep = `{"other":${'['.repeat(40_000)}${']'.repeat(40_000)}}`;
    expect(await outcome(post('/index/fine', deep))).toEqual([400, failure('Unknown key: other:nested too deeply')]);
  });

  it('have names of up to 64 characters', async () => {
    const name = `a${'-'.repeat(63)}`;
    expect((await post(`/index/${name}`)).status).toBe(200);
    expect((await remove(`/index/${name}`)).status).toBe(200);
  });
});

describe('fields', () => {
  beforeAll(() => post('/index/f'));

  it('are created with options of their type', async () => {
    const create = (name: string, options?: string) =>
      outcome(post(`/index/f/field/${name}`, options && `{"options":${options}}`));
    expect(await create('set')).toEqual([200, success]);
    expect(await create('set')).toEqual([409, failure('creating field: field already exists')]);
    expect(await create('int', '{"type":"int","min":-9223372036854775808,"max":9223372036854775807}')).toEqual([
      200,
      success,
    ]);
    expect(await create('small', '{"type":"int","min":1,"max":10}')).toEqual([200, success]);
    expect(await create('time', '{"type":"time","timeQuantum":"YMD"}')).toEqual([200, success]);
    expect(await create('mutex', '{"type":"mutex","keys":true,"cacheType":"none"}')).toEqual([200, success]);
    expect(await create('bool', '{"type":"bool"}')).toEqual([200, success]);
    expect(JSON.parse((await get('/index/f')).text).fields.map((field: { options: unknown }) => field.options)).toEqual(
      [
        { type: 'bool' },
        { type: 'int', base: 0, bitDepth: 0, min: -9223372036854775808, max: 9223372036854775807, keys: false },
        { type: 'mutex', cacheType: 'none', cacheSize: 0, keys: true },
        { type: 'set', cacheType: 'ranked', cacheSize: 50000, keys: false },
        { type: 'int', base: 0, bitDepth: 0, min: 1, max: 10, keys: false },
        { type: 'time', timeQuantum: 'YMD', keys: false, noStandardView: false },
      ],
    );
    expect((await get('/index/f')).text).toContain('"min":-9223372036854775808,"max":9223372036854775807');
  });

  it.each([
    ['{"options":{"type":"what"}}'],
    ['{"options":{"min":1}}'],
    ['{"options":{"type":"int","cacheSize":1}}'],
    ['{"options":{"type":"int","min":2,"max":1}}'],
    ['{"options":{"type":"int","min":1.5}}'],
    ['{"options":{"type":"int","max":9223372036854775808}}'],
    ['{"options":{"type":"time"}}'],
    ['{"options":{"type":"time","timeQuantum":"YD"}}'],
    ['{"options":{"type":"bool","keys":true}}'],
    ['{"options":{"cacheType":"other"}}'],
    ['{"keys":true}'],
    ['nonsense'],
  ])('are refused with %s', async (body) => {
    expect((await post('/index/f/field/wrong', body)).status).toBe(400);
    expect((await get('/index/f')).text).not.toContain('"wrong"');
  });

  it('are removed with their data', async () => {
    await post('/index/f/field/gone');
    await server.query('f', 'Set(1, gone=1)');
    expect(await outcome(remove('/index/f/field/gone'))).toEqual([200, success]);
    expect((await remove('/index/f/field/gone')).status).toBe(404);
    expect(await outcome(post('/index/none/field/x'))).toEqual([404, failure('index not found')]);
    await post('/index/f/field/gone');
    expect(await server.query('f', 'Row(gone=1)')).toBe('{"results":[{"attrs":{},"columns":[]}]}');
  });
});

describe('queries', () => {
  beforeAll(async () => {
    await post('/index/q');
    await post('/index/q/field/a');
    await server.query('q', 'Set(1, a=1) Set(1048576, a=1) SetRowAttrs(a, 1, x="y") SetColumnAttrs(1, n=7)');
  });

  it('take their options from the query string', async () => {
    expect(await server.query('q', 'Row(a=1)')).toBe('{"results":[{"attrs":{"x":"y"},"columns":[1,1048576]}]}');
    expect(await server.query('q', '')).toBe('{"results":[]}');
    expect(await server.query('q', 'Row(a=1)', '?columnAttrs=true&excludeAttrs=true&shards=0,7')).toBe(
      '{"results":[{"attrs":{},"columns":[1]}],"columnAttrs":[{"id":1,"attrs":{"n":7}}]}',
    );
    const withoutColumns = '{"results":[{"attrs":{"x":"y"},"columns":[]}]}';
    expect(await server.query('q', 'Row(a=1)', '?excludeBits=true&columnAttrs=true')).toBe(withoutColumns);
    expect(await server.query('q', 'Row(a=1)', '?excludeColumns=true&columnAttrs=1')).toBe(withoutColumns);
  });

  it('are refused with what is wrong', async () => {
    const fail = async (path: string, text = 'Row(a=1)') => outcome(post(path, text));
    expect(await fail('/index/q/query?x=1')).toEqual([400, '{"error":"x is not a valid argument"}']);
    expect(await fail('/index/q/query?shards=abc')).toEqual([400, '{"error":"invalid shard argument"}']);
    expect(await fail('/index/q/query?shards=-1')).toEqual([400, '{"error":"invalid shard argument"}']);
    expect(await fail('/index/q/query?shards=0&shards=1')).toEqual([400, '{"error":"shards is given twice"}']);
    expect((await fail('/index/q/query?shards=0&slices=1'))[1]).toContain('shards and slices mean the same');
    expect(await fail('/index/none/query')).toEqual([400, '{"error":"index not found"}']);
    expect(await fail('/index/q/query', 'Row(a=1')).toEqual([
      400,
      '{"error":"parsing: expected \\",\\" or \\")\\", found the end (line 1, column 8)"}',
    ]);
    expect((await fail('/index/q/query', 'x'.repeat(100_001)))[0]).toBe(413);
  });

  it('are answered in pieces when they are large', async () => {
    await post('/index/large');
    await post('/index/large/field/a');
    for (let from = 0; from < 120_000; from += 3_000) {
      await server.query('large', Array.from({ length: 3_000 }, (_, at) => `Set(${from + at},a=1)`).join(''));
    }
    const { results } = JSON.parse(await server.query('large', 'Row(a=1)'));
    expect(results[0].columns).toEqual(Array.from({ length: 120_000 }, (_, at) => at));
  });
});

describe('the server', () => {
  it('describes itself', async () => {
    expect(await outcome(get('/version'))).toEqual([200, '{"version":"1.4.1"}']);
    const { state, nodes, localID } = JSON.parse((await get('/status')).text);
    const { hostname, port } = new URL(server.url);
    expect({ state, nodes }).toEqual({
      state: 'NORMAL',
      nodes: [
        {
          id: localID,
          uri: { scheme: 'http', host: hostname, port: Number(port) },
          isCoordinator: true,
          state: 'READY',
        },
      ],
    });
    const info = JSON.parse((await get('/info')).text);
    expect(info).toMatchObject({ shardWidth: 1048576, bitmaps: expect.stringMatching(/native|plain/) });
    expect(info.cpuMHz).toBeGreaterThan(0);
    expect(JSON.parse((await get('/internal/fragment/nodes?shard=0&index=q')).text)).toEqual(nodes);
    expect(await outcome(get('/internal/fragment/nodes?index=q'))).toEqual([400, '{"error":"shard is required"}']);
    expect(JSON.parse((await get('/internal/shards/max')).text).standard.q).toBe(1);
    expect((await get('/health')).status).toBe(200);
    expect((await get('/metrics')).text).toMatch(/_count\{method="GET",route="\/health",status="200"\} \d/);
  });

  it('recalculates caches on demand', async () => {
    expect(await outcome(post('/recalculate-caches'))).toEqual([204, '']);
    expect((await get('/recalculate-caches')).status).toBe(405);
  });

  it('knows its paths, methods and arguments', async () => {
    expect(await outcome(server.call('PUT', '/index/q'))).toEqual([405, '']);
    expect((await get('/nothing')).status).toBe(404);
    expect((await get('/')).status).toBe(404);
    expect(await outcome(get('/schema?x=1'))).toEqual([400, '{"error":"x is not a valid argument"}']);
    expect(await outcome(get('/schema', { Accept: 'text/html' }))).toEqual([406, 'JSON only acceptable response']);
    expect((await get('/schema', { Accept: 'application/x-protobuf' })).status).toBe(200);
    expect((await get('/schema', { Accept: 'text/html, application/json' })).status).toBe(200);
  });

  it('exports', async () => {
    const csv = { Accept: 'text/csv' };
    expect(await outcome(get('/export?index=q&field=a&shard=1', csv))).toEqual([200, '1,1048576']);
    expect(await outcome(get('/export?index=q&field=a', csv))).toEqual([400, '{"error":"shard is required"}']);
    expect((await get('/export?index=q&field=a&shard=1', { Accept: 'application/json' })).status).toBe(406);
    await post('/index/keyed', '{"options":{"keys":true}}');
    await post('/index/keyed/field/k', '{"options":{"keys":true}}');
    await server.query('keyed', `Set("a,b", k="x")`);
    expect(await outcome(get('/export?index=keyed&field=k&shard=0', csv))).toEqual([200, 'x,"a,b"']);
    await post('/index/keyed/field/n', '{"options":{"type":"int"}}');
    await post('/index/keyed/field/t', '{"options":{"type":"time","timeQuantum":"Y","noStandardView":true}}');
    await server.query('keyed', 'Set("a", n=5) Set("a", t=1, 2017-01-01T00:00)');
    const refused = (message: string) => [400, expect.stringContaining(message)];
    expect(await outcome(get('/export?index=keyed&field=n&shard=0', csv))).toEqual(refused('no rows to export'));
    expect(await outcome(get('/export?index=keyed&field=t&shard=0', csv))).toEqual(refused('no standard view'));
    expect(await outcome(get('/export?index=keyed&field=t&shard=0&view=standard_2017', csv))).toEqual([200, '1,a']);
  });

  it('exports a shard as it is read, without putting its lines together before', async () => {
    await post('/index/large');
    await post('/index/large/field/f', '{"options":{"type":"set"}}');
    const sets = Array.from({ length: 5_000 }, (_, column) => `Set(${column * 7}, f=1)`);
    await server.query('large', sets.join(''));
    for (let from = 2; from <= 600; from += 100) {
      const stores = Array.from({ length: 100 }, (_, n) => `Store(Row(f=1), f=${from + n})`);
      await server.query('large', stores.join(''));
    }
    const response = await fetch(`${server.url}/export?index=large&field=f&shard=0`, {
      headers: { Accept: 'text/csv' },
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toMatch(/^1,0\n1,7\n/);
    await server.query('large', 'Set(999999, f=601)');
    let end = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      end = end.slice(-1_000) + part.value;
    }
    expect(end.endsWith('601,34993\n601,999999\n')).toBe(true);
  });

  it('accepts a schema as it returns one', async () => {
    const options = {
      timeQuantum: 'YM',
      cacheType: 'ranked',
      cacheSize: 0,
      fields: [{ name: 'x', type: 'int', min: 0, max: 9 }],
    };
    await post('/index/q/frame/g', JSON.stringify({ options }));
    const schema = (await get('/schema')).text;
    const other = await serverUnderTest();
    try {
      expect((await other.call('POST', '/schema', schema)).status).toBe(204);
      await other.restart();
      expect((await other.call('POST', '/schema', schema)).status).toBe(204);
      const reported = (text: string) =>
        JSON.parse(text.replace(/"bitDepth":\d+/g, '"bitDepth":0').replace(/"cacheSize":50000,(?="timeQ)/, '')).indexes;
      expect(reported((await other.call('GET', '/schema')).text)).toEqual(reported(schema));
      expect((await server.call('POST', '/schema', schema)).status).toBe(204);
    } finally {
      await other.remove();
    }
  });

  it('refuses a schema whole that differs from what there is', async () => {
    await post('/index/s');
    await post('/index/s/field/a');
    await post('/index/s/frame/g', '{"options":{"fields":[{"name":"x","type":"int","min":0,"max":9}]}}');
    const before = (await get('/index/s')).text;
    const one = (index: object) =>
      post('/schema', JSON.stringify({ indexes: [{ name: 'new' }, { name: 's', ...index }] }));
    const int = { type: 'int', min: 0, max: 10 };
    for (const [index, status, message] of [
      [{ options: { keys: true } }, 409, 'the index s exists with other options'],
      [{ fields: [{ name: 'b' }, { name: 'a', options: int }] }, 409, 'the field a of the index s exists with other'],
      [{ fields: [{ name: 'a', options: { keys: true } }] }, 409, 'the field a'],
      [{ frames: [{ name: 'g', options: { timeQuantum: 'Y' } }] }, 409, 'the field frame/g'],
      [{ frames: [{ name: 'g', options: { fields: [{ name: 'x', ...int }] } }] }, 409, 'the field frame/g/x'],
      [{ fields: [{ name: 'b' }, { name: 'b', options: int }] }, 400, 'the field b is given twice'],
      [{ fields: [{ name: 'b', options: { min: 1 } }] }, 400, 'min does not apply'],
      [{ frames: [{ name: 'h', options: { keys: true } }] }, 400, 'Unknown key'],
    ] as const) {
      expect(await outcome(one(index))).toEqual([status, expect.stringContaining(message)]);
    }
    expect((await get('/index/s')).text).toBe(before);
    expect((await get('/index/new')).status).toBe(404);
  });

  it('asks for its token, except for the probe', async () => {
    const guarded = await serverUnderTest({ token: 'secret' });
    try {
      expect((await guarded.call('GET', '/schema')).status).toBe(401);
      expect((await guarded.call('GET', '/schema', undefined, { Authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await guarded.call('GET', '/schema', undefined, { Authorization: 'Bearer secret' })).status).toBe(200);
      expect((await guarded.call('GET', '/health')).status).toBe(200);
    } finally {
      await guarded.remove();
    }
  });
});
