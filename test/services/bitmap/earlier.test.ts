import { type ServerUnderTest, serverUnderTest } from './server';

let server: ServerUnderTest;
beforeAll(async () => {
  server = await serverUnderTest();
  await server.call('POST', '/index/i');
  await server.call('POST', '/index/i/frame/f', '{"options":{"timeQuantum":"YMDH","rangeEnabled":true}}');
  await server.call(
    'POST',
    '/index/i/frame/g',
    '{"options":{"cacheType":"ranked","fields":[{"name":"x","type":"int","min":-5,"max":100}]}}',
  );
});
afterAll(() => server.remove());

const outcome = async (method: string, path: string, body?: string): Promise<[number, string]> => {
  const { status, text } = await server.call(method, path, body);
  return [status, text.trimEnd()];
};
const run = async (text: string, args = ''): Promise<unknown> =>
  JSON.parse(await server.query('i', text, args)).results;
const fail = async (text: string): Promise<string> => JSON.parse(await server.query('i', text)).error;

describe('frames', () => {
  it('are created and removed with empty answers', async () => {
    expect(await outcome('POST', '/index/i/frame/h')).toEqual([200, '{}']);
    expect(await outcome('POST', '/index/i/frame/h')).toEqual([409, 'creating frame: frame already exists']);
    expect(await outcome('POST', '/index/none/frame/h')).toEqual([404, 'index not found']);
    expect(await outcome('DELETE', '/index/i/frame/h')).toEqual([200, '{}']);
    expect(await outcome('DELETE', '/index/i/frame/h')).toEqual([200, '{}']);
    expect(await outcome('POST', '/index/i/frame/h', '{"fields":[]}')).toEqual([400, 'Unknown key: fields:[]']);
    expect((await outcome('POST', '/index/i/frame/Bad'))[0]).toBe(400);
    expect((await outcome('POST', '/index/i/frame/h', '{"options":{"timeQuantum":"HY"}}'))[0]).toBe(400);
  });

  it('take no arguments', async () => {
    for (const [method, path, body] of [
      ['POST', 'n'],
      ['POST', 'f/field/n', '{"type":"int","min":0,"max":1}'],
      ['DELETE', 'f/field/n'],
      ['GET', 'f/fields'],
      ['GET', 'f/views'],
      ['DELETE', 'f'],
    ] as const) {
      const refused = await outcome(method, `/index/i/frame/${path}?dry=true`, body);
      expect([method, path, ...refused]).toEqual([method, path, 400, '{"error":"dry is not a valid argument"}']);
    }
    expect(await outcome('GET', '/index/i/frame/f/fields')).toEqual([200, '{"fields":[]}']);
    expect((await outcome('GET', '/index/i/frame/n/fields'))[0]).toBe(404);
  });

  it('are refused with a field that is given twice', async () => {
    const field = (name: string) => `{"name":"${name}","type":"int","min":0,"max":1}`;
    const body = (names: string[]) => `{"options":{"fields":[${names.map(field).join(',')}]}}`;
    const twice = [400, 'the field n0 is given twice'];
    expect(await outcome('POST', '/index/i/frame/h', body(['n0', 'n1', 'n0']))).toEqual(twice);
    // A server that compared each with each would be busy for half a minute.
    const many = Array.from({ length: 80_000 }, (_, at) => `n${at}`);
    expect(await outcome('POST', '/index/i/frame/h', body([...many, 'n0']))).toEqual(twice);
  });

  it('have integer fields', async () => {
    expect(await outcome('POST', '/index/i/frame/g/field/y', '{"type":"int","min":0,"max":10}')).toEqual([200, '{}']);
    expect(await outcome('POST', '/index/i/frame/g/field/z')).toEqual([400, 'EOF']);
    for (const body of [
      '{"type":"int","min":0}',
      '{"type":"int","max":0}',
      '{"min":0,"max":1}',
      '{"type":"int","min":2,"max":1}',
    ]) {
      expect((await outcome('POST', '/index/i/frame/g/field/z', body))[0]).toBe(400);
    }
    expect(await outcome('GET', '/index/i/frame/g/fields')).toEqual([
      200,
      '{"fields":[{"name":"x","type":"int","min":-5,"max":100},{"name":"y","type":"int","max":10}]}',
    ]);
    expect((await outcome('POST', '/index/i/frame/g/field/y', '{"type":"int","min":0,"max":10}'))[0]).toBe(409);
    expect(await outcome('DELETE', '/index/i/frame/g/field/y')).toEqual([200, '{}']);
    expect((await outcome('DELETE', '/index/i/frame/g/field/y'))[0]).toBe(404);
  });

  it('are listed beside fields in the schema, and share no names with them', async () => {
    await server.call('POST', '/index/i/field/f');
    const [index] = JSON.parse((await server.call('GET', '/schema')).text).indexes;
    expect(index.fields.map(({ name }: { name: string }) => name)).toEqual(['f']);
    expect(index.frames).toEqual([
      { name: 'f', options: { cacheType: 'lru', cacheSize: 50000, timeQuantum: 'YMDH' } },
      {
        name: 'g',
        options: { cacheType: 'ranked', cacheSize: 50000, fields: [{ name: 'x', type: 'int', min: -5, max: 100 }] },
      },
    ]);
    expect((await outcome('DELETE', '/index/i/field/frame%2Ff'))[0]).toBe(404);
  });
});

describe('queries', () => {
  it('set, clear and look up bits', async () => {
    expect(
      await run(
        `SetBit(frame="f", row=1, col=10) SetBit(row=1, frame='f', col=10) SetBit(frame=f, row=1, col=1048577, timestamp="2017-01-02T03:00")`,
      ),
    ).toEqual([true, false, true]);
    expect(await server.query('i', 'Bitmap(frame="f", row=1)')).toBe('{"results":[{"attrs":{},"bits":[10,1048577]}]}');
    expect(await run('Bitmap(row=1, frame=f)', '?slices=1')).toEqual([{ attrs: {}, bits: [1048577] }]);
    expect(await run(`Range(row=1, frame='f', start='2017-01-01T00:00', end='2017-01-02T04:00')`)).toEqual([
      { attrs: {}, bits: [1048577] },
    ]);
    expect(await run('ClearBit(frame=f, row=1, col=10) Count(Bitmap(frame=f, row=1))')).toEqual([true, 1]);
    expect(await run('Union() SetBit(frame=f,row=2,col=1)')).toEqual([{ attrs: {}, bits: [] }, true]);
    expect(await run('Row(f=1)')).toEqual([{ attrs: {}, columns: [] }]);
  });

  it('set, compare and add up integers', async () => {
    expect(await run('SetFieldValue(frame=g, col=1, x=7) SetFieldValue(col=2, frame="g", x=-5)')).toEqual([null, null]);
    expect(
      await run(
        'Range(frame=g, x > 0) Range(frame="g", x >< [-5, 6]) Range(frame=g, x != null) Range(frame=g, x < -5)',
      ),
    ).toEqual([
      { attrs: {}, bits: [1] },
      { attrs: {}, bits: [2] },
      { attrs: {}, bits: [1, 2] },
      { attrs: {}, bits: [] },
    ]);
    expect(
      await run(
        `Sum(frame=g, field=x) Min(frame='g', field='x') Max(Range(frame=g, x<0), frame=g, field=x) Sum(frame=nope, field=x)`,
      ),
    ).toEqual([
      { value: 2, count: 2 },
      { value: -5, count: 1 },
      { value: -5, count: 1 },
      { value: 0, count: 0 },
    ]);
    expect(await fail('SetFieldValue(frame=g, col=1, x=101)')).toContain('field value too high');
    expect(await fail('SetFieldValue(frame=g, col=1, x=-6)')).toContain('field value too low');
    expect(await fail('Range(frame=g, x > 1, x2 < 3)')).toContain('too many arguments');
    expect(await fail('Range(frame=g, nope > 1)')).toContain('field not found');
  });

  it('rank rows, with attributes', async () => {
    await run(
      'SetBit(frame=g,row=1,col=1)SetBit(frame=g,row=1,col=2)SetBit(frame=g,row=2,col=2)SetRowAttrs(frame=g,row=2,kind="b")',
    );
    await run('SetColumnAttrs(col=2, name="two")');
    await server.call('POST', '/recalculate-caches');
    expect(
      await run(
        'TopN(frame=g, n=1) TopN(Bitmap(frame=g,row=2), frame=g) TopN(frame="g", n=5, field="kind", filters=["b"])',
      ),
    ).toEqual([
      [{ id: 1, count: 2 }],
      [
        { id: 1, count: 1 },
        { id: 2, count: 1 },
      ],
      [{ id: 2, count: 1 }],
    ]);
    expect(await server.query('i', 'Bitmap(frame=g, row=2)', '?columnAttrs=true')).toBe(
      '{"results":[{"attrs":{"kind":"b"},"bits":[2]}],"columnAttrs":[{"id":2,"attrs":{"name":"two"}}]}',
    );
    expect(await server.query('i', 'Bitmap(frame=g, row=2)', '?excludeBits=true&excludeAttrs=true')).toBe(
      '{"results":[{"attrs":{},"bits":[]}]}',
    );
  });

  it('report what is wrong', async () => {
    expect(await fail('Bitmap(row=1)')).toContain('frame required');
    expect(await fail('Bitmap(frame=f, col=1)')).toContain('row');
    expect(await fail('Bitmap(frame=none, row=1)')).toContain('frame not found');
    expect(await fail('Bitmap(frame=f, row=1) Row(f=1)')).toContain('unknown call: Row');
    expect(await fail('Range(frame=f, row=1, start="2017-01-01T00:00")')).toContain('end required');
  });

  it.each([
    ['SetFieldValue(frame=g, col=9, x > 4)', 'x is given with ='],
    ['SetBit(frame=f, row=1, col=9, bogus=7)', 'SetBit does not take bogus'],
    ['ClearBit(frame=f, row=1, col=10, timestamp="2017-01-02T03:00")', 'ClearBit does not take timestamp'],
    ['Sum(frame=g, field=x, row=1)', 'Sum does not take row; it takes frame, field'],
    ['Range(frame=f, row=1, start="2017-01-01T00:00", end="2018-01-01T00:00", x=1)', 'Range does not take x'],
    ['TopN(frame=g, inverse=true)', 'inverse is false'],
    ['TopN(frame=g, inverse=false, bogus=1)', 'TopN does not take bogus'],
    ['Union() TopN(g, frame=g) SetBit(frame=f, row=1, col=1)', 'no value without a name'],
  ])('refuse what they do not take: %s', async (query, message) => {
    expect(await fail(query)).toContain(message);
  });

  it('rank as client libraries ask for it', async () => {
    expect(await run('TopN(frame=g, n=1, inverse=false)')).toEqual([expect.any(Array)]);
  });
});
