import { type IndexUnderTest, indexUnderTest } from './index-under-test';

let i: IndexUnderTest;
beforeEach(() => {
  i = indexUnderTest();
  i.field('a');
  i.field('v', { type: 'int', min: -1000, max: 100_000 });
  i.field('t', { type: 'time', timeQuantum: 'YMDH' });
});

describe('arguments', () => {
  beforeEach(() => i.run('Set(1, a=1) Set(1, t=1, 2018-01-01T00:00) Set(1, t=1, 2020-01-01T00:00) Set(1, v=5)'));

  it.each([
    'Set(1, a != 2)',
    'Clear(1, a != 1)',
    'Clear(1, a > 1)',
    'ClearRow(a >= 1)',
    'ClearRow(0 < a < 2)',
    'Store(Row(a=2), a > 1)',
    'SetRowAttrs(a, 1, x > 1)',
    'SetColumnAttrs(1, x == 1)',
  ])('are not compared in a write: %s', (query) => {
    const { length } = i.changes;
    expect(i.error(query)).toMatch(/no comparison|given with =/);
    expect(i.changes).toHaveLength(length);
  });

  it.each([
    'ClearRow(t=1, from=2018-01-01T00:00, to=2018-01-02T00:00)',
    'Clear(1, t=1, from=2018-01-01T00:00)',
    'Set(3, a=1, from=5)',
    'Store(Row(a=1), a=9, from=3)',
    'Row(v > 5, from=2018-01-01T00:00)',
    'Range(v > 5, 2018-01-01T00:00)',
    'Range(t=1, 2018-01-01T00:00, 2019-01-01T00:00, from=2018-01-01T00:00)',
  ])('that limit times are refused where there are none: %s', (query) => {
    const { length } = i.changes;
    expect(i.error(query)).toContain('too many arguments');
    expect(i.changes).toHaveLength(length);
  });

  it.each([
    ['Row(v=5, from > 5)', 'from is given with ='],
    ['Count(Row(v=5, to > 5))', 'to is given with ='],
    ['Row(t=1, from > 2018-01-01T00:00)', 'from is given with ='],
    ['TopN(a, ids > [1])', 'ids is given with ='],
    ['Rows(a, previous > 1)', 'previous is given with ='],
    ['Rows(a, column > 1)', 'column is given with ='],
    ['Shift(Row(a=1), n > 1)', 'n is given with ='],
    ['Sum(field > v)', 'field is given with ='],
    ['Options(Row(a=1), shards > [0])', 'shards is given with ='],
    ['Options(Row(a=1), excludeColumns != true)', 'excludeColumns is given with ='],
    ['Count(Intersect(Row(a=1), Shift(Row(a=1), n > 1)))', 'n is given with ='],
    ['GroupBy(Rows(a), filter=Shift(Row(a=1), n > 1))', 'n is given with ='],
  ])('with a name are not compared: %s', (query, message) => {
    expect(i.error(query)).toContain(message);
  });

  it.each([
    ['Rows(a, Row(a=1))', 'Rows takes no calls'],
    ['Set(1, Row(a=1), a=1)', 'Set takes no calls'],
    ['MaxRow(Row(a=1), Row(a=2), field=a)', 'MaxRow takes only one row'],
    ['Sum(Row(a=1), Row(a=2), field=v)', 'Sum takes only one row'],
    ['Store(Row(a=1), Row(a=2), a=3)', 'Store takes only one row'],
    ['GroupBy(Rows(a), aggregate=Sum(field=v))', 'does not take aggregate; it takes limit, offset, filter'],
    ['Rows(a, offset=1)', 'does not take offset'],
    ['Rows(a, field=t)', 'takes only one field'],
    ['Count(Row(a=1), n=1)', 'does not take n; it takes no arguments by name'],
    ['TopN(a, attrName=5)', 'attrName must be the name'],
    ['TopN(a, attrValues=[5])', 'attrValues needs attrName'],
  ])('that a call does not take are refused: %s', (query, message) => {
    expect(i.error(query)).toContain(message);
  });

  it('that Options does not know are ignored, as are its other calls', () => {
    expect(i.run('Options(Row(a=1), Rows(a, offset=1), unknown > 1, filter=Count(Row(a=1), n=1))')).toEqual([
      { attrs: {}, columns: [1] },
    ]);
  });

  it('limit times by name and in order together', () => {
    const columns = [{ attrs: {}, columns: [1] }];
    expect(i.run('Range(t=1, from=2019-01-01T00:00, 2021-01-01T00:00)')).toEqual(columns);
    expect(i.run('Range(t=1, from=2020-06-01T00:00, 2021-01-01T00:00)')).toEqual([{ attrs: {}, columns: [] }]);
    expect(i.run('Range(t=1, 2019-01-01T00:00, to=2021-01-01T00:00)')).toEqual(columns);
  });

  it('may be fields that are called like an argument', () => {
    i.field('from', { type: 'time', timeQuantum: 'Y' });
    i.field('to', { type: 'int' });
    i.field('frame', { type: 'int' });
    i.run('Set(7, from=1, 2018-01-01T00:00) Set(7, to=3) Set(7, frame=3)');
    for (const query of [
      'Row(from=1)',
      'Row(from=1, to=2019-01-01T00:00)',
      'Range(from=1, 2017-01-01T00:00, 2019-01-01T00:00)',
      'Row(to > 2)',
      'Row(2 < to < 4)',
      'Row(frame > 2)',
      'Range(frame > 2)',
      'Range(2 < frame < 4)',
    ]) {
      expect([query, i.run(query)]).toEqual([query, [{ attrs: {}, columns: [7] }]]);
    }
    expect(i.run('Row(from=1, to=2018-01-01T00:00) ClearRow(from=1) Row(from=1)')).toEqual([
      { attrs: {}, columns: [] },
      true,
      { attrs: {}, columns: [] },
    ]);
  });
});
