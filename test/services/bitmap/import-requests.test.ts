import { sendImport } from './protobuf';
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

  it('has times for the bits of a field that has no view without them', async () => {
    const bits = { RowIDs: [1, 1], ColumnIDs: [1, 2] };
    for (const Timestamps of [[], [0, 0], [day(2), 0]]) {
      expect(await send('timed', 'ImportRequest', { ...bits, Timestamps })).toEqual(refused('without a time'));
    }
    expect(await server.query('i', 'Rows(timed)')).toBe('{"results":[{"rows":[]}]}');
    expect(await send('timed', 'ImportRequest', { ...bits, Timestamps: [day(2), day(3)] })).toEqual([200, {}]);
    expect(await server.query('i', 'Rows(timed)')).toBe('{"results":[{"rows":[1]}]}');
  });

  it.each(['t', 'timed'])(
    'clears bits of %s without a time at all times, and those with one at that',
    async (field) => {
      const year = (row: number) => `Row(${field}=${row}, from=2017-01-01T00:00, to=2018-01-01T00:00)`;
      const some = { RowIDs: [5, 5, 6, 6], ColumnIDs: [1, 2, 1, 2], Timestamps: [2, 3, 2, 3].map(day) };
      expect(await send(field, 'ImportRequest', some)).toEqual([200, {}]);
      const path = `/index/i/field/${field}/import?clear=true`;
      const cleared = { RowIDs: [5, 6], ColumnIDs: [1, 1], Timestamps: [0, day(2)] };
      expect(await sendImport(server, path, ['ImportRequest', cleared])).toEqual([200, {}]);
      const third = (row: number) => `Row(${field}=${row}, from=2017-01-03T00:00, to=2017-01-04T00:00)`;
      expect(await server.query('i', `${year(5)} ${year(6)} ${third(5)} ${third(6)}`)).toBe(
        `{"results":[${Array.from({ length: 4 }, () => '{"attrs":{},"columns":[2]}').join(',')}]}`,
      );
      expect(await sendImport(server, path, ['ImportRequest', { RowIDs: [5], ColumnIDs: [2] }])).toEqual([200, {}]);
      expect(await server.query('i', `${year(5)} Count(Row(${field}=5))`)).toBe(
        '{"results":[{"attrs":{},"columns":[]},0]}',
      );
    },
  );
});
