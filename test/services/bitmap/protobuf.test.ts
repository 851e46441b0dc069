import { decode, encode, protobufHeaders, sendImport } from './protobuf';
import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await serverUnderTest({ bodyLimit: 8_388_608 });
  await server.call('POST', '/index/i');
  await server.call('POST', '/index/k', '{"options":{"keys":true}}');
  for (const [field, options] of Object.entries({
    a: {},
    v: { type: 'int', min: -1000, max: 1000 },
    t: { type: 'time', timeQuantum: 'YMD' },
    m: { type: 'mutex' },
    yes: { type: 'bool' },
  })) {
    await server.call('POST', `/index/i/field/${field}`, JSON.stringify({ options }));
  }
  await server.call('POST', '/index/k/field/k', '{"options":{"keys":true}}');
  await server.call('POST', '/index/i/frame/f', '{"options":{"timeQuantum":"YM"}}');
  await server.call('POST', '/index/i/frame/f/field/x', '{"type":"int","min":0,"max":9}');
});
afterAll(() => server.remove());

/** The parts that are inspected. */
interface Answer {
  status: number;
  Results: { Row: { Columns?: string[]; Attrs?: unknown[] } }[];
  ColumnAttrSets?: unknown;
}
const query = async (text: string, options: object = {}, index = 'i') => {
  const body = encode('QueryRequest', { Query: text, ...options });
  const reply = await server.call('POST', `/index/${index}/query`, body, protobufHeaders);
  expect(reply.type).toBe('application/protobuf');
  return { status: reply.status, ...decode('QueryResponse', reply.bytes) } as Answer;
};
const send = (path: string, message: string, value: object) => sendImport(server, path, [message, value]);
const columns = async (text: string, index = 'i') => JSON.parse(await server.query(index, text)).results[0].columns;

describe('answers', () => {
  it('are of every type', async () => {
    await server.query(
      'i',
      'Set(1,a=1)Set(2,a=1)Set(2,a=3)Set(1,v=-7)Set(2,v=9)SetRowAttrs(a,1,s="x",n=-9223372036854775808,b=true,f=1.5)',
    );
    await server.query('i', 'SetColumnAttrs(2, city="Ülm")');
    await server.call('POST', '/recalculate-caches');
    const { Results, ColumnAttrSets } = await query(
      'Row(a=1) Count(Row(a=1)) TopN(a) Set(9,a=9) Set(9,a=9) Sum(field=v) Rows(a) GroupBy(Rows(a),limit=1) MinRow(field=a) SetRowAttrs(a,5,x=1)',
      { ColumnAttrs: true },
    );
    expect(Results).toEqual([
      {
        Row: {
          Columns: ['1', '2'],
          Attrs: [
            { Key: 'b', Type: '3', BoolValue: true },
            { Key: 'f', Type: '4', FloatValue: 1.5 },
            { Key: 'n', Type: '2', IntValue: '-9223372036854775808' },
            { Key: 's', Type: '1', StringValue: 'x' },
          ],
        },
        Type: 1,
      },
      { N: '2', Type: 4 },
      {
        Pairs: [
          { ID: '1', Count: '2' },
          { ID: '3', Count: '1' },
        ],
        Type: 2,
      },
      { Changed: true, Type: 5 },
      { Type: 5 },
      { ValCount: { Val: '2', Count: '2' }, Type: 3 },
      { RowIdentifiers: { Rows: ['1', '3', '9'] }, Type: 8 },
      { GroupCounts: [{ Group: [{ Field: 'a', RowID: '1' }], Count: '2' }], Type: 7 },
      { Pairs: [{ ID: '1', Count: '2' }], Type: 9 },
      {},
    ]);
    expect(ColumnAttrSets).toEqual([{ ID: '2', Attrs: [{ Key: 'city', Type: '1', StringValue: 'Ülm' }] }]);
  });

  it('follow the options of the request', async () => {
    await server.query('i', 'Set(5,a=70)Set(1048577,a=70)Set(9223372036854775807,a=70)');
    expect((await query('Row(a=70)', { Shards: ['1', '8796093022207'] })).Results[0]!.Row.Columns).toEqual([
      '1048577',
      '9223372036854775807',
    ]);
    expect((await query('Row(a=1)', { ExcludeColumns: true })).Results[0]!.Row.Columns).toBeUndefined();
    expect((await query('Row(a=1)', { ExcludeRowAttrs: true })).Results[0]!.Row.Attrs).toBeUndefined();
  });

  it('name rows and columns by their keys', async () => {
    await server.query('k', 'Set("one", k="x") Set("two", k="x")');
    await server.call('POST', '/recalculate-caches');
    const { Results } = await query('Row(k="x") TopN(k) Rows(k) GroupBy(Rows(k))', {}, 'k');
    expect(Results).toEqual([
      { Row: { Keys: ['one', 'two'] }, Type: 1 },
      { Pairs: [{ Count: '2', Key: 'x' }], Type: 2 },
      { RowIdentifiers: { Keys: ['x'] }, Type: 8 },
      { GroupCounts: [{ Group: [{ Field: 'k', RowKey: 'x' }], Count: '2' }], Type: 7 },
    ]);
  });

  it('hold the error and nothing else when something is wrong', async () => {
    expect(await query('Row(')).toEqual({ status: 400, Err: expect.stringContaining('parsing:') });
    expect(await query('Row(a=1)', {}, 'none')).toEqual({ status: 400, Err: 'index not found' });
    const garbage = await server.call('POST', '/index/i/query', Buffer.from([0xff, 0xff, 0xff]), protobufHeaders);
    expect([garbage.status, Object.keys(decode('QueryResponse', garbage.bytes))]).toEqual([400, ['Err']]);
  });

  it('are refused when a sum does not fit the message', async () => {
    await server.call('POST', '/index/i/field/large', '{"options":{"type":"int"}}');
    await server.query('i', 'Set(1, large=9223372036854775807) Set(2, large=9223372036854775807)');
    expect(await server.query('i', 'Sum(field=large)')).toContain('"value":18446744073709551614,');
    expect(await query('Sum(field=large)')).toEqual({
      status: 400,
      Err: expect.stringContaining('18446744073709551614'),
    });
    await server.query('i', 'Set(1, large=-1)');
    expect((await query('Sum(field=large)')).Results).toEqual([
      { ValCount: { Val: '9223372036854775806', Count: '2' }, Type: 3 },
    ]);
  });

  it('come in the form that Accept names, whatever the body is', async () => {
    const body = encode('QueryRequest', { Query: 'Count(Row(a=1))' });
    const json = await server.call('POST', '/index/i/query', body, { 'Content-Type': 'application/x-protobuf' });
    expect([json.type, json.text]).toEqual([expect.stringContaining('application/json'), '{"results":[2]}\n']);
    const binary = await server.call('POST', '/index/i/query', 'Count(Row(a=1))', { Accept: 'application/x-protobuf' });
    expect(decode('QueryResponse', binary.bytes)).toEqual({ Results: [{ N: '2', Type: 4 }] });
    const list = { Accept: 'application/json, text/plain' };
    expect((await server.call('POST', '/index/i/query', 'Count(Row(a=1))', list)).type).toContain('application/json');
  });
});

describe('imports', () => {
  const path = (field: string, index = 'i') => `/index/${index}/field/${field}/import`;

  it('set and clear bits, packed or not', async () => {
    const bits = { Index: 'i', Field: 'a', RowIDs: [10, 10, 11], ColumnIDs: [3, '9007199254740993', 3] };
    expect(await send(path('a'), 'ImportRequest', bits)).toEqual([200, {}]);
    expect(await server.query('i', 'Row(a=10)')).toContain('[3,9007199254740993]');
    expect(
      await send(path('a'), 'UnpackedImport', { Index: 'i', Field: 'a', RowIDs: [12, 12], ColumnIDs: [1, 2] }),
    ).toEqual([200, {}]);
    expect(await columns('Row(a=12)')).toEqual([1, 2]);
    expect(await send(`${path('a')}?clear=true`, 'ImportRequest', { RowIDs: [12], ColumnIDs: [1] })).toEqual([200, {}]);
    expect(await columns('Row(a=12)')).toEqual([2]);
    expect(await columns('Intersect(Not(Row(a=77)), Row(a=12))')).toEqual([2]);
  });

  it('set times, in nanoseconds', async () => {
    const at = BigInt(Date.UTC(2017, 0, 2, 3)) * 1_000_000n;
    expect(
      await send(path('t'), 'ImportRequest', { RowIDs: [1, 1], ColumnIDs: [5, 6], Timestamps: [String(at), 0] }),
    ).toEqual([200, {}]);
    expect(await columns('Row(t=1)')).toEqual([5, 6]);
    expect(await columns('Row(t=1, from=2017-01-02T00:00, to=2017-01-03T00:00)')).toEqual([5]);
  });

  it('keep a column of a mutex or bool field in one row: the last', async () => {
    expect(await send(path('m'), 'ImportRequest', { RowIDs: [1, 2, 3], ColumnIDs: [7, 7, 8] })).toEqual([200, {}]);
    expect(await send(path('m'), 'ImportRequest', { RowIDs: [4], ColumnIDs: [8] })).toEqual([200, {}]);
    expect([
      await columns('Row(m=1)'),
      await columns('Row(m=2)'),
      await columns('Row(m=3)'),
      await columns('Row(m=4)'),
    ]).toEqual([[], [7], [], [8]]);
    expect(await send(path('yes'), 'ImportRequest', { RowIDs: [1, 0], ColumnIDs: [7, 7] })).toEqual([200, {}]);
    expect([await columns('Row(yes=true)'), await columns('Row(yes=false)')]).toEqual([[], [7]]);
  });

  it('set values', async () => {
    expect(
      await send(path('v'), 'ImportValueRequest', { ColumnIDs: [100, 101, 100], Values: [-1000, 5, 1000] }),
    ).toEqual([200, {}]);
    expect(
      JSON.parse(await server.query('i', 'Sum(Row(v != null), field=v) Row(v == 1000) Max(field=v)')).results,
    ).toEqual([
      { value: 1007, count: 4 },
      { attrs: {}, columns: [100] },
      { value: 1000, count: 1 },
    ]);
    expect(await send(`${path('v')}?clear=true`, 'ImportValueRequest', { ColumnIDs: [100], Values: [0] })).toEqual([
      200,
      {},
    ]);
    expect(await columns('Row(v >= 5)')).toEqual([2, 101]);
  });

  it('name rows and columns by keys', async () => {
    expect(await send(path('k', 'k'), 'ImportRequest', { RowKeys: ['r', 'r'], ColumnKeys: ['c1', 'c2'] })).toEqual([
      200,
      {},
    ]);
    expect(await server.query('k', 'Row(k="r")')).toBe('{"results":[{"attrs":{},"columns":[],"keys":["c1","c2"]}]}');
    const translate = async (field: string, keys: string[]) => {
      const body = encode('TranslateKeysRequest', { Index: 'k', Field: field, Keys: keys });
      const { bytes } = await server.call('POST', '/internal/translate/keys', body, protobufHeaders);
      return decode('TranslateKeysResponse', bytes).IDs;
    };
    const ids = (await translate('', ['c2', 'new', 'c1'])) as string[];
    expect(ids).toEqual(await translate('', ['c2', 'new', 'c1']));
    expect(new Set(ids).size).toBe(3);
    expect(await translate('k', ['r'])).toEqual(await translate('k', ['r']));
  });

  it('take no ids that keys may get later, unless the check is ignored', async () => {
    await server.call('POST', '/index/k/field/plain');
    await server.call('POST', '/index/k/field/n', '{"options":{"type":"int"}}');
    await server.call('POST', '/index/i/field/keyed', '{"options":{"keys":true}}');
    const refused = (what: string) => [400, { Err: expect.stringContaining(`${what}s have keys here`) }];
    for (const RowIDs of [[1], [0]]) {
      expect(await send(path('keyed'), 'ImportRequest', { RowIDs, ColumnIDs: [9] })).toEqual(refused('row'));
    }
    const late = { RowIDs: [1], ColumnIDs: ['4294967297'] };
    expect(await send(path('plain', 'k'), 'ImportRequest', late)).toEqual(refused('column'));
    expect(await send(path('n', 'k'), 'ImportValueRequest', { ColumnIDs: [99], Values: [1] })).toEqual(
      refused('column'),
    );
    // Keys of rows are not handed out either when its columns are refused.
    expect(await send(path('k', 'k'), 'ImportRequest', { RowKeys: ['late'], ColumnIDs: [99] })).toEqual(
      refused('column'),
    );
    expect(await server.query('k', 'Rows(k)')).not.toContain('late');

    await server.query('i', 'Set(2, keyed="first")');
    expect(await columns('Row(keyed="first")')).toEqual([2]);
    expect(await send(path('keyed'), 'ImportRequest', { RowIDs: [1], ColumnIDs: [3] })).toEqual([200, {}]);
    expect(await columns('Row(keyed="first")')).toEqual([2, 3]);
    const early = { RowIDs: [2], ColumnIDs: [4] };
    expect(await send(`${path('keyed')}?ignoreKeyCheck=true`, 'ImportRequest', early)).toEqual([200, {}]);
    await server.query('i', 'Set(5, keyed="second")');
    expect(await columns('Row(keyed="second")')).toEqual([4, 5]);
  });

  it('set times before 1970', async () => {
    expect(await send(path('t'), 'ImportRequest', { RowIDs: [9], ColumnIDs: [5], Timestamps: [-1] })).toEqual([
      200,
      {},
    ]);
    expect(await columns('Row(t=9, from=1969-12-31T00:00, to=1970-01-01T00:00)')).toEqual([5]);
  });

  it.each([
    ['a', { RowIDs: [1, 2], ColumnIDs: [1] }, 'not as many'],
    ['a', { RowIDs: [1], ColumnIDs: [1], Timestamps: [5] }, 'no time quantum'],
    ['a', { RowKeys: ['x'], ColumnIDs: [1] }, 'no keys'],
    ['a', { RowIDs: [1], ColumnIDs: ['18446744073709551615'] }, 'larger than'],
    ['yes', { RowIDs: [2], ColumnIDs: [1] }, '0 and 1 only'],
  ])('into %s of %j are refused whole', async (field, bits, message) => {
    const before = await server.query('i', 'Rows(a) Row(a=1)');
    expect(await send(path(field), 'ImportRequest', bits)).toEqual([400, { Err: expect.stringContaining(message) }]);
    expect(await server.query('i', 'Rows(a) Row(a=1)')).toBe(before);
  });

  it('are bounded in their rows and in their bits, and refused whole', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => at);
    const rows = { RowIDs: many(100_001).map((at) => 1_000_000 + at), ColumnIDs: many(100_001) };
    expect(await send(path('a'), 'ImportRequest', rows)).toEqual([
      413,
      { Err: expect.stringContaining('at most 100000 rows') },
    ]);
    const at = String(BigInt(Date.UTC(2017, 0, 2)) * 1_000_000n);
    const timed = { RowIDs: many(30_000), ColumnIDs: many(30_000), Timestamps: many(30_000).map(() => at) };
    expect((await send(path('t'), 'ImportRequest', timed))[0]).toBe(413);
    const ones = many(2_097_153).fill(1);
    expect(await send(path('a'), 'ImportRequest', { RowIDs: ones, ColumnIDs: ones })).toEqual([
      400,
      { Err: expect.stringContaining('send it in parts') },
    ]);
    expect(await server.query('i', 'Rows(a, previous=999999, limit=1) Count(Row(t=29999))')).toBe(
      '{"results":[{"rows":[]},0]}',
    );
  });

  it('are refused for what is not there, not protobuf, or out of bounds', async () => {
    expect(await send(path('none'), 'ImportRequest', {})).toEqual([404, 'field not found']);
    expect(await send(path('a', 'none'), 'ImportRequest', {})).toEqual([404, 'index not found']);
    expect((await server.call('POST', path('a'), '{}', { 'Content-Type': 'application/json' })).status).toBe(415);
    const csv = { ...protobufHeaders, Accept: 'text/csv' };
    expect((await server.call('POST', path('a'), encode('ImportRequest', {}), csv)).status).toBe(406);
    expect(await send(path('v'), 'ImportValueRequest', { ColumnIDs: [1], Values: [1001] })).toEqual([
      400,
      { Err: expect.stringContaining('too high') },
    ]);
    expect((await server.call('POST', path('a'), Buffer.alloc(50, 0xff), protobufHeaders)).status).toBe(400);
  });
});

describe('the earlier revision', () => {
  it('imports bits and values into frames', async () => {
    const at = String(BigInt(Date.UTC(2017, 0, 2)) * 1_000_000n);
    expect(
      await send('/import', 'ImportRequest', {
        Index: 'i',
        Field: 'f',
        RowIDs: [1, 1],
        ColumnIDs: [1, 2],
        Timestamps: [at, 0],
      }),
    ).toEqual([200, {}]);
    expect(await server.query('i', 'Bitmap(frame=f, row=1)')).toBe('{"results":[{"attrs":{},"bits":[1,2]}]}');
    expect(
      await server.query('i', 'Range(frame=f, row=1, start="2017-01-01T00:00", end="2018-01-01T00:00")'),
    ).toContain('[1]');
    expect(
      await send('/import-value', 'ImportValueRequest', {
        Index: 'i',
        Field: 'f',
        FrameField: 'x',
        ColumnIDs: [1, 2],
        Values: [3, 4],
      }),
    ).toEqual([200, {}]);
    expect(await server.query('i', 'Sum(frame=f, field=x)')).toBe('{"results":[{"value":7,"count":2}]}');
    expect(await send('/import', 'ImportRequest', { Index: 'i', Field: 'none' })).toEqual([404, 'frame not found']);
    const third = { Index: 'i', Field: 'f', RowIDs: [1], ColumnIDs: [3] };
    expect(await send('/import', 'ImportRequest', third)).toEqual([200, {}]);
    expect(await send('/import?clear=true', 'ImportRequest', third)).toEqual([200, {}]);
    const csv = await server.call('GET', '/export?index=i&frame=f&view=standard&slice=0', undefined, {
      Accept: 'text/csv',
    });
    expect(csv.text).toBe('1,1\n1,2\n');
    const view = (name: string) => server.call('GET', `/export?index=i&frame=f&view=${name}&slice=0`);
    expect((await view('standard_2017')).text).toBe('1,1\n');
    expect((await view('standard_2018')).text).toBe('');
    for (const name of ['inverse', '2017', 'standard_', 'standard_20170102', 'field_x', '']) {
      expect([name, (await view(name)).status]).toEqual([name, 400]);
    }
    expect(JSON.parse((await server.call('GET', '/index/i/frame/f/views')).text).views).toEqual([
      'standard',
      'standard_2017',
      'standard_201701',
    ]);
    expect(JSON.parse((await server.call('GET', '/fragment/nodes?index=i&slice=0')).text)).toHaveLength(1);
    expect(JSON.parse((await server.call('GET', '/slices/max')).text)).toEqual({
      standard: { i: expect.any(Number), k: 0 },
    });
  });

  it('answers types up to 5', async () => {
    const { Results } = await query(
      'Bitmap(frame=f, row=1) Count(Bitmap(frame=f, row=1)) SetBit(frame=f, row=9, col=9) SetFieldValue(frame=f, col=9, x=1)',
    );
    expect(Results).toEqual([
      { Row: { Columns: ['1', '2'] }, Type: 1 },
      { N: '2', Type: 4 },
      { Changed: true, Type: 5 },
      {},
    ]);
  });
});
