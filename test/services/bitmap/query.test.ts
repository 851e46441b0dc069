import { type IndexUnderTest, indexUnderTest } from './index-under-test';

let i: IndexUnderTest;
beforeEach(() => {
  i = indexUnderTest();
  i.field('a');
  i.field('b');
  i.field('v', { type: 'int', min: -1000, max: 100_000 });
  i.field('t', { type: 'time', timeQuantum: 'YMDH' });
});

describe('Set and Clear', () => {
  it('report whether the bit changed', () => {
    expect(i.run('Set(3, a=1) Set(3, a=1)\nSet(1048577,a=1)\tRow(a=1)')).toEqual([
      true,
      false,
      true,
      { attrs: {}, columns: [3, 1048577] },
    ]);
    expect(i.run('Clear(3, a=1)Clear(3, a=1)Row(a=1)')).toEqual([true, false, { attrs: {}, columns: [1048577] }]);
  });

  it('keep the largest ids exact', () => {
    const largest = '9223372036854775807';
    expect(i.text(`Set(${largest}, a=${largest}) Row(a=${largest}) Rows(a)`)).toBe(
      `{"results":[true,{"attrs":{},"columns":[${largest}]},{"rows":[${largest}]}]}`,
    );
    expect(i.error('Set(9223372036854775808, a=1)')).toMatch(/^parsing: .*64 bits/);
  });

  it('set integers, and check their bounds', () => {
    expect(i.run('Set(1, v=5) Set(1, v=5) Set(1, v=-7) Row(v == -7) Row(v == 5)')).toEqual([
      true,
      false,
      true,
      { attrs: {}, columns: [1] },
      { attrs: {}, columns: [] },
    ]);
    expect(i.error('Set(1, v=100001)')).toContain('value too high');
    expect(i.error('Set(1, v=-1001)')).toContain('value too low');
    expect(i.run('Clear(1, v=-7) Row(v != null)')).toEqual([false, { attrs: {}, columns: [1] }]);
  });

  it('keep a column of a mutex field in one row, and of a bool field', () => {
    i.field('m', { type: 'mutex' });
    i.field('yes', { type: 'bool' });
    expect(i.run('Set(1, m=3) Set(1, m=4) Set(1, m=4) Row(m=3) Row(m=4)')).toEqual([
      true,
      true,
      false,
      { attrs: {}, columns: [] },
      { attrs: {}, columns: [1] },
    ]);
    expect(i.run('Set(1, yes=true) Set(1, yes=false) Row(yes=true) Row(yes=false) Rows(yes)')).toEqual([
      true,
      true,
      { attrs: {}, columns: [] },
      { attrs: {}, columns: [1] },
      { rows: [0] },
    ]);
    expect(i.error('Set(1, yes=1)')).toContain('true and false');
  });

  it('stop at the first call that fails, and keep what came before', () => {
    expect(i.error('Set(1, a=1) Set(1, nothing=1) Set(2, a=1)')).toBe(
      'executing: field not found: nothing (line 1, column 20)',
    );
    expect(i.run('Row(a=1)')).toEqual([{ attrs: {}, columns: [1] }]);
  });

  it('refuse more than 5000 writes in one request', () => {
    expect(i.error('Set(1,a=1)'.repeat(5001))).toBe('executing: too many write commands');
    expect(i.run('Set(1,a=1)'.repeat(5000))).toHaveLength(5000);
    expect(i.run('Row(a=1)'.repeat(6000))).toHaveLength(6000);
  });
});

describe('rows', () => {
  beforeEach(() => i.run('Set(1,a=1)Set(2,a=1)Set(3,a=1)Set(2,b=1)Set(3,b=1)Set(4,b=1)Set(1048575,a=2)'));
  const columns = (query: string) => (i.run(query)[0] as { columns: number[] }).columns;

  it('are combined', () => {
    expect(columns('Union(Row(a=1), Row(b=1))')).toEqual([1, 2, 3, 4]);
    expect(columns('Union()')).toEqual([]);
    expect(columns('Intersect(Row(a=1), Row(b=1),)')).toEqual([2, 3]);
    expect(columns('Difference(Row(a=1), Row(b=1))')).toEqual([1]);
    expect(columns('Xor(Row(a=1), Row(b=1))')).toEqual([1, 4]);
    expect(columns('Xor()')).toEqual([]);
    expect(columns('Not(Row(a=1))')).toEqual([4, 1048575]);
    expect(i.error('Intersect()')).toContain('needs at least one row');
    expect(i.error('Difference()')).toContain('needs at least one row');
    expect(i.error('Not()')).toContain('needs a row');
  });

  it('are shifted across shards', () => {
    expect(columns('Shift(Row(a=2), n=1)')).toEqual([1048576]);
    expect(columns('Shift(Row(a=2), n=1048576)')).toEqual([2097151]);
    expect(columns('Shift(Row(a=1))')).toEqual([1, 2, 3]);
    expect(i.error('Shift(Row(a=1), n=-1)')).toContain('not negative');
  });

  it('are counted', () => {
    expect(
      i.run(
        'Count(Row(a=1)) Count(Intersect(Row(a=1),Row(b=1))) Count(Union(Row(a=1),Row(b=1))) Count(Row(a=77)) Count(Row(v>1))',
      ),
    ).toEqual([3, 2, 4, 0, 0]);
    expect(i.error('Count(TopN(a))')).toContain('TopN is not a row');
    expect(i.error('Count(Row(a=1), Row(a=1))')).toContain('only one row');
    expect(i.error('Count()')).toContain('needs a row');
  });

  it('are limited to shards', () => {
    expect(i.run('Count(Union(Row(a=1), Row(a=2)))', { shards: [0] })).toEqual([4]);
    expect(
      i.run('Set(1048576, a=2) Row(a=2) Not(Row(a=1)) Count(Row(a=2)) Rows(a) TopN(a)', { shards: [1, 9] }),
    ).toEqual([
      true,
      { attrs: {}, columns: [1048576] },
      { attrs: {}, columns: [1048576] },
      1,
      { rows: [2] },
      [{ id: 2, count: 1 }],
    ]);
    expect(i.run('Options(Row(a=1), shards=[1])')).toEqual([{ attrs: {}, columns: [] }]);
  });

  it('report what is wrong, and where', () => {
    expect(i.error('Row(nothing=1)')).toBe('executing: field not found: nothing (line 1, column 5)');
    expect(i.error('Row(a=1)\nBow(a=1)')).toBe('executing: unknown call: Bow (line 2, column 1)');
    expect(i.error('Row(a="x")')).toContain('named by numbers');
    expect(i.error('Row(a=-1)')).toContain('named by numbers');
    expect(i.error('Row(a > 3)')).toContain('not an integer field');
    expect(i.error('row(a=1)')).toContain('unknown call: row');
    expect(i.error('Row(constructor=1)')).toContain('field not found');
    expect(i.error('toString()')).toContain('unknown call');
    expect(indexUnderTest({ trackExistence: false }).error('Not(Union())')).toContain('tracks which columns exist');
  });

  it('are cleared and stored', () => {
    expect(i.run('ClearRow(a=1) ClearRow(a=1) Row(a=1)')).toEqual([true, false, { attrs: {}, columns: [] }]);
    expect(i.run('Store(Row(b=1), a=9) Row(a=9) Store(Row(b=8), a=9) Row(a=9)')).toEqual([
      true,
      { attrs: {}, columns: [2, 3, 4] },
      true,
      { attrs: {}, columns: [] },
    ]);
    i.run('Store(Row(b=1), a=9) Clear(2, b=1)');
    expect(columns('Row(a=9)')).toEqual([2, 3, 4]);
    expect(i.error('Store(Row(a=1), v=1)')).toContain('set fields only');
    expect(i.error('ClearRow(v=1)')).toContain('not for integer');
  });

  it('are answered as they were when their call was executed', () => {
    expect(i.run('Row(a=2) Set(5, a=2) Row(a=2)')).toEqual([
      { attrs: {}, columns: [1048575] },
      true,
      { attrs: {}, columns: [5, 1048575] },
    ]);
  });
});

describe('times', () => {
  beforeEach(() =>
    i.run(
      'Set(1, t=1, 2017-01-02T03:04) Set(2, t=1, "2017-02-01T00:00") Set(3, t=1, 2018-01-01T00:00) Set(4, t=1) Set(1, a=1, 2017-01-01T00:00)',
    ),
  );
  const columns = (query: string) => (i.run(query)[0] as { columns: number[] }).columns;

  it('limit rows: from inclusive, to exclusive', () => {
    expect(columns('Row(t=1)')).toEqual([1, 2, 3, 4]);
    expect(columns('Row(t=1, from=2017-01-01T00:00, to=2018-01-01T00:00)')).toEqual([1, 2]);
    expect(columns(`Row(t=1, from='2017-01-02T03:00', to='2017-01-02T04:00')`)).toEqual([1]);
    expect(columns('Row(t=1, from=2017-01-02T04:00)')).toEqual([2, 3]);
    expect(columns('Row(t=1, to=2017-02-01T00:00)')).toEqual([1]);
    expect(columns('Range(t=1, 2017-01-01T00:00, 2017-02-01T01:00)')).toEqual([1, 2]);
    expect(columns('Range(t=1, from=2017-02-01T00:00, to=2019-01-01T00:00)')).toEqual([2, 3]);
    expect(columns('Row(a=1, from=2016-01-01T00:00)')).toEqual([]);
    expect(i.error('Row(t=1, from=2017-13-01T00:00)')).toContain('YYYY-MM-DDTHH:MM');
  });

  it('are in the views of every unit, and cleared from all', () => {
    expect([...i.index.fields.get('t')!.views.keys()].filter((name) => name.startsWith('201701'))).toEqual([
      '201701',
      '20170102',
      '2017010203',
    ]);
    expect(i.run('Clear(1, t=1) Row(t=1, from=2017-01-01T00:00, to=2018-01-01T00:00)')).toEqual([
      true,
      { attrs: {}, columns: [2] },
    ]);
    expect(i.run('Rows(t, from=2018-01-01T00:00) ClearRow(t=1) Rows(t, from=2018-01-01T00:00)')).toEqual([
      { rows: [1] },
      true,
      { rows: [] },
    ]);
  });

  it('are all there is of a field without a standard view', () => {
    i.field('only', { type: 'time', timeQuantum: 'D', noStandardView: true });
    expect(i.run('Set(1, only=1) Set(1, only=1, 2017-01-02T03:04) Row(only=1)')).toEqual([
      false,
      true,
      { attrs: {}, columns: [] },
    ]);
    expect(columns('Row(only=1, from=2017-01-02T00:00, to=2017-01-03T00:00)')).toEqual([1]);
    i.run('Set(2, only=7, 2017-05-06T00:00) Set(3, only=2, 2999-01-01T00:00)');
    expect(i.run('Rows(only) Rows(only, from=2017-02-01T00:00) Rows(only, column=2) Rows(only, limit=1)')).toEqual([
      { rows: [1, 2, 7] },
      { rows: [2, 7] },
      { rows: [7] },
      { rows: [1] },
    ]);
    expect(i.run('GroupBy(Rows(only)) MinRow(field=only)')).toEqual([[], { id: 0, count: 0 }]);
  });

  it('limit no rows of fields that have none', () => {
    i.run('Set(1, a=1)');
    expect(i.run('Rows(a, from=2017-02-01T00:00)')).toEqual([{ rows: [1] }]);
  });
});

describe('integers', () => {
  beforeEach(() => i.run('Set(1,v=-10)Set(2,v=0)Set(3,v=10)Set(4,v=11)Set(5,v=100000)Set(3,a=1)Set(4,a=1)Set(1,a=2)'));
  const columns = (query: string) => (i.run(query)[0] as { columns: number[] }).columns;

  it.each([
    ['v < 0', [1]],
    ['v <= 0', [1, 2]],
    ['v > 10', [4, 5]],
    ['v >= 10', [3, 4, 5]],
    ['v == -10', [1]],
    ['v != 0', [1, 3, 4, 5]],
    ['v != null', [1, 2, 3, 4, 5]],
    ['v >< [0, 11]', [2, 3, 4]],
    ['0 < v < 11', [3]],
    ['0 <= v <= 11', [2, 3, 4]],
    ['-10 <= v < 10', [1, 2]],
    ['v > 9223372036854775807', []],
    ['v > -9223372036854775808', [1, 2, 3, 4, 5]],
    ['v < 9223372036854775807', [1, 2, 3, 4, 5]],
    ['v == 100001', []],
    ['v=10', []],
  ])('Row(%s)', (condition, expected) => {
    expect(columns(`Row(${condition})`)).toEqual(expected);
    expect(columns(`Range(${condition})`)).toEqual(expected);
    expect(i.run(`Count(Row(${condition}))`)).toEqual([expected.length]);
    expect(i.run(`Count(Intersect(Row(${condition}), Row(a=1)))`)).toEqual([
      expected.filter((column) => column === 3 || column === 4).length,
    ]);
  });

  it('are added up and searched', () => {
    expect(i.run('Sum(field=v) Min(field=v) Max(field=v)')).toEqual([
      { value: 100011, count: 5 },
      { value: -10, count: 1 },
      { value: 100000, count: 1 },
    ]);
    expect(
      i.run('Sum(Row(a=1), field=v) Min(Row(a=1), field="v") Max(Row(a=1), field=v) Max(Row(a=2),field=v)'),
    ).toEqual([
      { value: 21, count: 2 },
      { value: 10, count: 1 },
      { value: 11, count: 1 },
      { value: -10, count: 1 },
    ]);
    expect(i.run('Sum() Sum(field=a) Min(field=nothing) Max(Row(a=99), field=v)')).toEqual(
      Array.from({ length: 4 }, () => ({ value: 0, count: 0 })),
    );
    i.run('Set(1, v=100000)');
    expect(i.run('Max(field=v) Min(field=v) Count(Row(v > 99999))')).toEqual([
      { value: 100000, count: 2 },
      { value: 0, count: 1 },
      2,
    ]);
  });

  it('may be as large as 63 bits and a sign', () => {
    i.field('big', { type: 'int' });
    expect(
      i.text(
        'Set(1, big=9223372036854775807) Set(2, big=-9223372036854775808) Min(field=big) Max(field=big) Sum(field=big)',
      ),
    ).toBe(
      '{"results":[true,true,{"value":-9223372036854775808,"count":1},{"value":9223372036854775807,"count":1},{"value":-1,"count":2}]}',
    );
    expect(columns('Row(big > 9223372036854775806)')).toEqual([1]);
    expect(columns('Row(big < -9223372036854775807)')).toEqual([2]);
    expect(i.run('Count(Row(big > 0)) Count(Row(-9223372036854775808 < big < 9223372036854775807))')).toEqual([1, 0]);
    expect(i.text('Set(3, big=9007199254740993) Sum(Row(big == 9007199254740993), field=big)')).toContain(
      '"value":9007199254740993',
    );
  });

  it('are compared with integers only', () => {
    expect(i.error('Row(v > 1.5)')).toContain('compared with an integer');
    expect(i.error('Row(v > "1")')).toContain('compared with an integer');
    expect(i.error('Row(v == null)')).toContain('compared with an integer');
    expect(i.error('Row(v >< [1])')).toContain('two integers');
    expect(i.error('Row(8 > v > 1)')).toContain('expected "<" or "<="');
  });
});
