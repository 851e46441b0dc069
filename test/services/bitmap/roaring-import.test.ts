import { Bitmaps } from '../../../services/bitmap/bitmaps/kind';
import { sendImport } from './protobuf';
import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await serverUnderTest();
  await server.call('POST', '/index/i');
  for (const [field, options] of Object.entries({
    a: {},
    t: { type: 'time', timeQuantum: 'YMD' },
    m: { type: 'mutex' },
    timed: { type: 'time', timeQuantum: 'YMD', noStandardView: true },
    keyed: { keys: true },
  })) {
    await server.call('POST', `/index/i/field/${field}`, JSON.stringify({ options }));
  }
});
afterAll(() => server.remove());

const send = (path: string, value: object) =>
  sendImport(server, `/index/i/field/${path}`, ['ImportRoaringRequest', value]);
const results = async (text: string) => JSON.parse(await server.query('i', text)).results;
const columns = async (text: string) => (await results(text))[0].columns;

const position = (row: number, column: number) => row * 1_048_576 + column;
const portable = (positions: number[]) => {
  const bitmap = Bitmaps.from(Uint32Array.from(positions));
  bitmap.runOptimize();
  return bitmap.serialize('portable');
};

/** The 64-bit variant, with one container of each type. */
function wide(): Uint8Array {
  const headers = Buffer.alloc(8 + 3 * 16);
  headers.writeUInt16LE(12348, 0);
  headers.writeUInt32LE(3, 4);
  const list = Buffer.from(Uint16Array.of(1, 9).buffer);
  const bits = Buffer.alloc(8192, 0xff);
  const runs = Buffer.from(Uint16Array.of(1, 10, 14).buffer);
  let offset = headers.length;
  [
    { key: 5n * 16n, type: 1, cardinality: 2, body: list },
    { key: 5n * 16n + 1n, type: 2, cardinality: 65_536, body: bits },
    { key: 2n ** 40n * 16n, type: 3, cardinality: 5, body: runs },
  ].forEach(({ key, type, cardinality, body }, at) => {
    headers.writeBigUInt64LE(key, 8 + 12 * at);
    headers.writeUInt16LE(type, 16 + 12 * at);
    headers.writeUInt16LE(cardinality - 1, 18 + 12 * at);
    headers.writeUInt32LE(offset, 8 + 36 + 4 * at);
    offset += body.length;
  });
  return Buffer.concat([headers, list, bits, runs]);
}

/** So many rows of the 64-bit variant, each with one container: its runs are a start and an end, as the original has them. */
function wideRows(rows: number, runs: readonly [start: number, last: number][], firstRow = 0): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(12348, 0);
  head.writeUInt32LE(rows, 4);
  const headers = Buffer.alloc(12 * rows);
  const offsets = Buffer.alloc(4 * rows);
  const body = Buffer.from(Uint16Array.of(runs.length, ...runs.flat()).buffer);
  const cardinality = runs.reduce((sum, [start, last]) => sum + last - start + 1, 0);
  for (let row = 0; row < rows; row += 1) {
    headers.writeBigUInt64LE(BigInt(firstRow + row) * 16n, 12 * row);
    headers.writeUInt16LE(3, 12 * row + 8);
    headers.writeUInt16LE(cardinality - 1, 12 * row + 10);
    offsets.writeUInt32LE(8 + 16 * rows + body.length * row, 4 * row);
  }
  return Buffer.concat([head, headers, offsets, ...Array.from({ length: rows }, () => body)]);
}

describe('roaring imports', () => {
  it('take the portable format, with times', async () => {
    const views = [
      { Name: '', Data: portable([position(50, 1), position(50, 2), position(51, 3)]) },
      { Name: '201802', Data: portable([position(50, 2)]) },
    ];
    expect(await send('t/import-roaring/2', { views })).toEqual([200, {}]);
    expect(await columns('Row(t=50)')).toEqual([2097153, 2097154]);
    expect(await columns('Row(t=50, from=2018-01-01T00:00, to=2018-03-01T00:00)')).toEqual([2097154]);
    // A query of a longer time reads the view of that.
    expect(await columns('Row(t=50, from=2017-01-01T00:00, to=2020-01-01T00:00)')).toEqual([2097154]);
    const clear = { Clear: true, views: [{ Name: '', Data: portable([position(50, 1)]) }] };
    expect(await send('t/import-roaring/2', clear)).toEqual([200, {}]);
    expect(await columns('Row(t=50)')).toEqual([2097154]);
  });

  it('take the 64-bit variant', async () => {
    expect(await send('a/import-roaring/0', { views: [{ Data: wide() }] })).toEqual([200, {}]);
    expect(
      JSON.parse(await server.query('i', `Count(Row(a=5)) Row(a=${2 ** 40}) Count(Shift(Row(a=5), n=65526))`)).results,
    ).toEqual([65_538, { attrs: {}, columns: [10, 11, 12, 13, 14] }, 65_538]);
  });

  it('are refused when they cannot be read', async () => {
    const to = (field: string, data: Uint8Array, shard = '0', name = '') =>
      send(`${field}/import-roaring/${shard}`, { views: [{ Name: name, Data: data }] });
    const good = portable([1, 2, 3]);
    expect(await to('a', good.subarray(0, good.length - 1))).toEqual([
      400,
      { Err: expect.stringContaining('ends too early') },
    ]);
    expect(await to('a', Buffer.from('nonsense'))).toEqual([400, { Err: expect.stringContaining('cookie') }]);
    expect(await to('m', good)).toEqual([400, { Err: expect.stringContaining('set and time') }]);
    expect(await to('a', good, '0', '201802')).toEqual([400, { Err: expect.stringContaining('not a view') }]);
    expect(await to('t', good, '0', '201813')).toEqual([400, { Err: expect.stringContaining('not a view') }]);
    expect((await to('a', good, 'x'))[0]).toBe(400);
    const unsorted = Buffer.from(wide());
    unsorted.writeUInt16LE(9, 56);
    expect(await to('a', unsorted)).toEqual([400, { Err: expect.stringContaining('ascending') }]);
  });

  it('are refused with a view that no query reads', async () => {
    const data = portable([position(80, 1)]);
    const to = (field: string, ...names: string[]) =>
      send(`${field}/import-roaring/0`, { views: names.map((Name) => ({ Name, Data: data })) });
    expect(await to('t', '2017010203')).toEqual([400, { Err: expect.stringContaining('"2017010203" is not a view') }]);
    expect(await to('timed', '')).toEqual([400, { Err: expect.stringContaining('"" is not a view') }]);
    expect(await to('timed', '2017', '201701', '20170102')).toEqual([200, {}]);
    expect(await columns('Row(timed=80, from=2017-01-02T00:00, to=2017-01-03T00:00)')).toEqual([1]);
    expect(await results('Rows(t, previous=79) Rows(timed)')).toEqual([{ rows: [] }, { rows: [80] }]);
  });

  it('are refused with rows and columns that keys may get later', async () => {
    const to = (path: string, ...positions: number[]) =>
      sendImport(server, `/index/${path}/import-roaring/0`, [
        'ImportRoaringRequest',
        { views: [{ Name: '', Data: portable(positions) }] },
      ]);
    const refused = (what: string) => [400, { Err: expect.stringContaining(`${what}s have keys here`) }];
    expect(await to('i/field/keyed', position(1, 9))).toEqual(refused('row'));
    await server.query('i', 'Set(2, keyed="first")');
    expect(await to('i/field/keyed', position(1, 9))).toEqual([200, {}]);
    expect(await columns('Row(keyed="first")')).toEqual([2, 9]);

    await server.call('POST', '/index/k', '{"options":{"keys":true}}');
    await server.call('POST', '/index/k/field/a');
    await server.query('k', 'Set("one", a=1)');
    expect(await to('k/field/a', position(2, 0))).toEqual(refused('column'));
    expect(await to('k/field/a', position(2, 1), position(2, 2))).toEqual(refused('column'));
    expect(await to('k/field/a', position(2, 1))).toEqual([200, {}]);
    expect(JSON.parse(await server.query('k', 'Row(a=2)')).results[0].keys).toEqual(['one']);
  });

  it('clear what the query string or the body asks them to', async () => {
    const views = [{ Name: '', Data: portable([position(60, 1), position(60, 2), position(60, 3)]) }];
    expect(await send('a/import-roaring/0?clear=false', { views })).toEqual([200, {}]);
    expect(await columns('Row(a=60)')).toEqual([1, 2, 3]);
    const some = [{ Name: '', Data: portable([position(60, 2)]) }];
    expect(await send('a/import-roaring/0?clear=true', { views: some })).toEqual([200, {}]);
    expect(await columns('Row(a=60)')).toEqual([1, 3]);
    expect(await send('a/import-roaring/0?clear=true', { Clear: true, views })).toEqual([200, {}]);
    expect(await columns('Row(a=60)')).toEqual([]);
    expect((await send('a/import-roaring/0?clean=true', { views }))[0]).toBe(400);
  });

  it('take every view that is sent, also one that is sent in parts', async () => {
    const views = [1, 2].map((column) => ({ Name: '', Data: portable([position(61, column)]) }));
    expect(await send('a/import-roaring/0', { views })).toEqual([200, {}]);
    expect(await columns('Row(a=61)')).toEqual([1, 2]);
  });

  it('store runs as runs: 141 KB that stand for 400 million columns', async () => {
    const data = wideRows(6_400, [[0, 65_535]], 1_000);
    expect(data.length).toBeLessThan(144_400);
    const before = Number(/log_bytes (\d+)/.exec((await server.call('GET', '/metrics')).text)?.[1]);
    expect(await send('a/import-roaring/4097', { views: [{ Data: data }] })).toEqual([200, {}]);
    const after = Number(/log_bytes (\d+)/.exec((await server.call('GET', '/metrics')).text)?.[1]);
    expect(after - before).toBeLessThan(1_000_000);
    expect(await results('Count(Row(a=1000)) Count(Row(a=7399)) Count(Intersect(Row(a=1000), Row(a=7399)))')).toEqual([
      65_536, 65_536, 65_536,
    ]);
    expect(await results('Count(Row(a=7400))')).toEqual([0]);
    await server.restart();
    expect(await results('Count(Row(a=7399))')).toEqual([65_536]);
  });

  it('are refused whole when they would take too much once they are expanded', async () => {
    for (const runs of [[[0, 65_535]], [[7, 7]]] as [number, number][][]) {
      const data = wideRows(runs[0]![1] > 7 ? 16_000 : 100_001, runs, 100_000);
      expect(await send('a/import-roaring/0', { views: [{ Data: data }] })).toEqual([
        413,
        { Err: expect.stringMatching(/import (them )?in parts/) },
      ]);
      expect(await results('Rows(a, previous=99999, limit=1)')).toEqual([{ rows: [2 ** 40] }]);
    }
  });

  it('are refused when containers share runs that take more than bits would', async () => {
    const runs = Array.from({ length: 32_768 }, (_, at): [number, number] => [2 * at, 2 * at]);
    const rows = 15_000;
    const headers = wideRows(rows, [[0, 0]], 200_000).subarray(0, 8 + 16 * rows);
    for (let row = 0; row < rows; row += 1) {
      headers.writeUInt16LE(runs.length - 1, 8 + 12 * row + 10);
      headers.writeUInt32LE(headers.length, 8 + 12 * rows + 4 * row);
    }
    const shared = Buffer.concat([headers, wideRows(1, runs).subarray(8 + 16)]);
    expect(shared.length).toBeLessThan(400_000);
    const started = performance.now();
    expect((await send('a/import-roaring/0', { views: [{ Data: shared }] }))[0]).toBe(413);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('are refused with more views than a request may have', async () => {
    const views = Array.from({ length: 4_097 }, () => ({ Name: '', Data: portable([position(62, 1)]) }));
    expect((await send('a/import-roaring/0', { views: views.slice(1) }))[0]).toBe(200);
    expect(await send('a/import-roaring/0', { views })).toEqual([400, { Err: 'an import has at most 4096 views' }]);
  });

  it('take neighbouring runs for one, and refuse runs and containers that do not ascend', async () => {
    const runs: [number, number][] = [
      [0, 4],
      [5, 9],
      [20, 20],
    ];
    expect(await send('a/import-roaring/0', { views: [{ Data: wideRows(1, runs, 70) }] })).toEqual([200, {}]);
    expect(await columns('Row(a=70)')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20]);
    const refused = [400, { Err: expect.stringContaining('ascending') }];
    for (const wrong of [[...runs].reverse(), [...runs, [18, 23]] as [number, number][]]) {
      expect(await send('a/import-roaring/0', { views: [{ Data: wideRows(1, wrong) }] })).toEqual(refused);
    }
    const backwards = wideRows(1, [[5, 9]], 71);
    backwards.writeUInt16LE(10, backwards.length - 4);
    expect(await send('a/import-roaring/0', { views: [{ Data: backwards }] })).toEqual(refused);
    const twice = wideRows(2, runs);
    twice.writeBigUInt64LE(0n, 8 + 12);
    expect(await send('a/import-roaring/0', { views: [{ Data: twice }] })).toEqual(refused);
  });
});
