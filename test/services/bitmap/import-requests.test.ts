import { encode, protobufHeaders, sendImport } from './protobuf';
import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await serverUnderTest();
  await server.call('POST', '/index/i');
  await server.call('POST', '/index/k', '{"options":{"keys":true}}');
  for (const [field, options] of Object.entries({
    a: {},
    keyed: { keys: true },
    v: { type: 'int' },
    m: { type: 'mutex' },
    t: { type: 'time', timeQuantum: 'YMD' },
    timed: { type: 'time', timeQuantum: 'YMD', noStandardView: true },
  })) {
    for (const index of ['i', 'k']) {
      await server.call('POST', `/index/${index}/field/${field}`, JSON.stringify({ options }));
    }
  }
});
afterAll(() => server.remove());

const send = (field: string, message: string, value: object, index = 'i') =>
  sendImport(server, `/index/${index}/field/${field}/import`, [message, value]);
/** That day of January 2017, in nanoseconds. */
const day = (date: number) => String(BigInt(Date.UTC(2017, 0, date)) * 1_000_000n);
const refused = (message: string) => [400, { Err: expect.stringContaining(message) }];

describe('an import request', () => {
  it('names rows and columns by ids or by keys, never by both', async () => {
    const rows = { RowIDs: [1, 1, 1], RowKeys: ['x'], ColumnIDs: [1, 2, 3] };
    expect(await send('keyed', 'ImportRequest', rows)).toEqual(refused('not by both'));
    const columns = { RowIDs: [1, 1, 1], ColumnIDs: [1, 2, 3], ColumnKeys: ['x'] };
    expect(await send('a', 'ImportRequest', columns, 'k')).toEqual(refused('not by both'));
    const values = { ColumnIDs: [1, 2, 3], ColumnKeys: ['x'], Values: [1, 2, 3] };
    expect(await send('v', 'ImportValueRequest', values, 'k')).toEqual(refused('not by both'));
    expect(await server.query('k', 'Rows(a) Rows(keyed) Sum(field=v)')).toBe(
      '{"results":[{"rows":[]},{"rows":null,"keys":[]},{"value":0,"count":0}]}',
    );
  });

  it('hands out no keys where it is refused', async () => {
    await server.call('POST', '/index/fresh', '{"options":{"keys":true}}');
    const keys = (what: string) => Array.from({ length: 100_001 }, (_, at) => `${what} ${at}`);
    const tooMany = { RowKeys: keys('row'), ColumnKeys: keys('column') };
    for (const type of ['set', 'mutex']) {
      const field = `a-${type}`;
      await server.call('POST', `/index/fresh/field/${field}`, JSON.stringify({ options: { type, keys: true } }));
      const bits = (value: object) => send(field, 'ImportRequest', value, 'fresh');
      expect(await bits(tooMany)).toEqual([413, { Err: expect.stringContaining('import in parts') }]);
      expect(await bits({ RowKeys: ['first'], ColumnKeys: ['first'] })).toEqual([200, {}]);
      // The first key of a field, and of an index, has the id 1.
      expect(await bits({ RowIDs: [1], ColumnIDs: [1] })).toEqual([200, {}]);
      expect(await bits({ RowIDs: [2], ColumnIDs: [1] })).toEqual(refused('rows have keys'));
      expect(await bits({ RowIDs: [1], ColumnIDs: [2] })).toEqual(refused('columns have keys'));
      expect(await server.query('fresh', `Row(${field}="first")`)).toBe(
        '{"results":[{"attrs":{},"columns":[],"keys":["first"]}]}',
      );
    }
  });

  it('has times for the bits of a field that has no view without them', async () => {
    const bits = { RowIDs: [1, 1], ColumnIDs: [1, 2] };
    for (const Timestamps of [[], [0, 0], [day(2), 0]]) {
      expect(await send('timed', 'ImportRequest', { ...bits, Timestamps })).toEqual(refused('without a time'));
    }
    expect(await server.query('i', 'Rows(timed)')).toBe('{"results":[{"rows":[]}]}');
    expect(await send('timed', 'ImportRequest', { ...bits, Timestamps: [day(2), day(3)] })).toEqual([200, {}]);
    expect(await server.query('i', 'Rows(timed)')).toBe('{"results":[{"rows":[1]}]}');
  });

  it.each(['t', 'timed'])('clears bits of %s at all times, and none where it names times', async (field) => {
    const year = `Row(${field}=5, from=2017-01-01T00:00, to=2018-01-01T00:00)`;
    const third = `Row(${field}=5, from=2017-01-03T00:00, to=2017-01-04T00:00)`;
    const some = { RowIDs: [5, 5, 5], ColumnIDs: [1, 2, 1], Timestamps: [2, 3, 3].map(day) };
    expect(await send(field, 'ImportRequest', some)).toEqual([200, {}]);
    const path = `/index/i/field/${field}/import?clear=true`;
    // Of the year and the month, and of no time, the bit is also that of another day.
    for (const Timestamps of [[day(2)], [day(3)]]) {
      const timed = { RowIDs: [5], ColumnIDs: [1], Timestamps };
      expect(await sendImport(server, path, ['ImportRequest', timed])).toEqual(refused('give no times'));
    }
    const mixed = { RowIDs: [5, 5], ColumnIDs: [2, 1], Timestamps: [0, day(2)] };
    expect(await sendImport(server, path, ['ImportRequest', mixed])).toEqual(refused('give no times'));
    const both = '{"attrs":{},"columns":[1,2]}';
    expect(await server.query('i', `${year} ${third}`)).toBe(`{"results":[${both},${both}]}`);
    const untimed = { RowIDs: [5], ColumnIDs: [1], Timestamps: [0] };
    expect(await sendImport(server, path, ['ImportRequest', untimed])).toEqual([200, {}]);
    const second = '{"attrs":{},"columns":[2]}';
    expect(await server.query('i', `${year} ${third}`)).toBe(`{"results":[${second},${second}]}`);
    expect(await sendImport(server, path, ['ImportRequest', { RowIDs: [5], ColumnIDs: [2] }])).toEqual([200, {}]);
    expect(await server.query('i', `${year} Count(Row(${field}=5))`)).toBe('{"results":[{"attrs":{},"columns":[]},0]}');
  });

  it('of a mutex field is in the log with the bits that rows lose, and not with all for each row', async () => {
    const ColumnIDs = Array.from({ length: 20_000 }, (_, at) => 50 * at);
    const bits = (shift: number) => ({ RowIDs: ColumnIDs.map((_, at) => (at + shift) % 1_000), ColumnIDs });
    const logBytes = async () =>
      Number(/bitmap_log_bytes (\d+)/.exec((await server.call('GET', '/metrics')).text)?.[1]);
    expect(await send('m', 'ImportRequest', bits(0))).toEqual([200, {}]);
    const before = await logBytes();
    expect(await send('m', 'ImportRequest', bits(1))).toEqual([200, {}]);
    expect((await logBytes()) - before).toBeLessThan(1_000_000);
    expect(await server.query('i', 'Count(Row(m=0)) Count(Row(m=1)) Row(m=1000) Rows(m, column=0)')).toBe(
      '{"results":[20,20,{"attrs":{},"columns":[]},{"rows":[1]}]}',
    );
  });

  it('is refused with fields of a wrong type, numbers that leave their list, and texts that are not UTF-8', async () => {
    const post = async (bytes: Uint8Array) => {
      const { status } = await server.call('POST', '/index/k/field/keyed/import', bytes, protobufHeaders);
      return status;
    };
    const good = encode('ImportRequest', { RowKeys: ['r'], ColumnKeys: ['c'] });
    expect(await post(good)).toBe(200);
    // Field 4, row ids: of 64 bits; field 3, the shard: a text; field 5, columns: the last number has one byte more.
    for (const extra of [
      [0x21, 1, 0, 0, 0, 0, 0, 0, 0],
      [0x1a, 1, 49],
      [0x2a, 1, 0x80, 1],
    ]) {
      expect([extra, await post(Buffer.concat([good, Buffer.from(extra)]))]).toEqual([extra, 400]);
    }
    for (const byte of [0xfe, 0xff]) {
      expect(await post(Buffer.from([0x3a, 1, byte, 0x42, 1, byte]))).toBe(400);
    }
    expect(await server.query('k', 'Rows(keyed)')).toBe('{"results":[{"rows":null,"keys":["r"]}]}');
    expect(await server.query('k', 'Set("\\ud800", keyed="x")')).toContain('half of a character');
  });
});
