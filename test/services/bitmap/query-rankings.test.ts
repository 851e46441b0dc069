import { KeyTable } from '../../../services/bitmap/engine/keys';
import { importBits } from '../../../services/bitmap/imports/import';
import { type IndexUnderTest, indexUnderTest } from './index-under-test';

let i: IndexUnderTest;
beforeEach(() => {
  i = indexUnderTest();
  i.field('a');
  i.field('b');
  i.field('v', { type: 'int', min: -1000, max: 100_000 });
  i.field('t', { type: 'time', timeQuantum: 'YMDH' });
});

describe('TopN', () => {
  beforeEach(() => {
    i.run('Set(1,a=1)Set(2,a=1)Set(3,a=1)Set(1,a=2)Set(2,a=2)Set(9,a=3)Set(1,b=1)Set(9,b=1)');
    i.recalculate();
  });

  it('ranks rows', () => {
    expect(i.run('TopN(a) TopN(a, n=2) TopN(a, n=0) TopN(a, ids=[3,2]) TopN(a, threshold=2)')).toEqual([
      [
        { id: 1, count: 3 },
        { id: 2, count: 2 },
        { id: 3, count: 1 },
      ],
      [
        { id: 1, count: 3 },
        { id: 2, count: 2 },
      ],
      [
        { id: 1, count: 3 },
        { id: 2, count: 2 },
        { id: 3, count: 1 },
      ],
      [
        { id: 2, count: 2 },
        { id: 3, count: 1 },
      ],
      [
        { id: 1, count: 3 },
        { id: 2, count: 2 },
      ],
    ]);
  });

  it('ranks what rows have in common with another', () => {
    expect(i.run('TopN(a, Row(b=1)) TopN(a, Row(b=1), n=1) TopN(a, Row(b=7))')).toEqual([
      [
        { id: 1, count: 1 },
        { id: 2, count: 1 },
        { id: 3, count: 1 },
      ],
      [{ id: 1, count: 1 }],
      [],
    ]);
    expect(i.run('TopN(a, Row(a=1), tanimotoThreshold=50)')).toEqual([
      [
        { id: 1, count: 3 },
        { id: 2, count: 2 },
      ],
    ]);
  });

  it('filters by attributes', () => {
    i.run('SetRowAttrs(a, 1, category=123, name="x") SetRowAttrs(a, 2, category="123")');
    expect(
      i.run(`TopN(a, attrName=category, attrValues=[123]) TopN(a, attrName="category", attrValues=["123"])`),
    ).toEqual([[{ id: 1, count: 3 }], [{ id: 2, count: 2 }]]);
    expect((i.run('TopN(a, attrName=category)')[0] as unknown[]).length).toBe(3);
  });

  it('counts again when asked, or after ten seconds', () => {
    i.run('Set(20,a=3)Set(21,a=3)Set(22,a=3)');
    expect(i.run('TopN(a, n=1)')).toEqual([[{ id: 1, count: 3 }]]);
    i.recalculate();
    expect(i.run('TopN(a, n=1)')).toEqual([[{ id: 3, count: 4 }]]);
  });

  it('chooses among the rows in the cache', () => {
    i.field('small', { cacheType: 'ranked', cacheSize: 2 });
    i.field('recent', { cacheType: 'lru', cacheSize: 2 });
    i.field('none', { cacheType: 'none', cacheSize: 0 });
    for (const field of ['small', 'recent', 'none']) {
      i.run(`Set(1,${field}=1)Set(2,${field}=1)Set(1,${field}=2)Set(1,${field}=3)`);
    }
    i.recalculate();
    expect(i.run('TopN(small) TopN(recent) TopN(none)')).toEqual([
      [
        { id: 1, count: 2 },
        { id: 2, count: 1 },
      ],
      [
        { id: 2, count: 1 },
        { id: 3, count: 1 },
      ],
      [],
    ]);
  });

  it('is for fields with a cache', () => {
    expect(i.error('TopN(v)')).toContain('not for int');
    expect(i.error('TopN(t)')).toContain('not for time');
    expect(i.error('TopN(nothing)')).toContain('field not found');
    expect(i.error('TopN(a, Row(a=1), Row(a=2))')).toContain('only one row');
  });
});

describe('Rows, GroupBy, MinRow and MaxRow', () => {
  beforeEach(() => i.run('Set(1,a=1)Set(2,a=1)Set(2,a=5)Set(3,a=7)Set(1,b=2)Set(2,b=2)Set(3,b=3)'));

  it('list rows', () => {
    expect(
      i.run(
        'Rows(a) Rows(a, previous=1) Rows(a, limit=1) Rows(a, limit=0) Rows(a, column=2) Rows(field=a, column=9) Rows(v)',
      ),
    ).toEqual([
      { rows: [1, 5, 7] },
      { rows: [5, 7] },
      { rows: [1] },
      { rows: [] },
      { rows: [1, 5] },
      { rows: [] },
      { rows: [] },
    ]);
    expect(i.error('Rows(a, limit=-1)')).toContain('not negative');
    expect(i.run('Clear(3, a=7) Rows(a)')).toEqual([true, { rows: [1, 5] }]);
  });

  it('group', () => {
    const group = (a: number, b: number, count: number) => ({
      group: [
        { field: 'a', rowID: a },
        { field: 'b', rowID: b },
      ],
      count,
    });
    const all = [group(1, 2, 2), group(5, 2, 1), group(7, 3, 1)];
    expect(
      i.run(
        'GroupBy(Rows(a), Rows(b)) GroupBy(Rows(a), Rows(b), limit=2) GroupBy(Rows(a), Rows(b), offset=1, limit=1) GroupBy(Rows(a), Rows(b), filter=Row(a=5))',
      ),
    ).toEqual([all, all.slice(0, 2), all.slice(1, 2), [group(1, 2, 1), group(5, 2, 1)]]);
    expect(i.run('GroupBy(Rows(b, limit=1))')).toEqual([[{ group: [{ field: 'b', rowID: 2 }], count: 2 }]]);
    expect(i.error('GroupBy()')).toContain('at least one Rows');
    expect(i.error('GroupBy(Row(a=1))')).toContain('only Rows');
  });

  it('find the first and the last row', () => {
    expect(i.run('MinRow(field=a) MaxRow(field=a) MaxRow(Row(a=1), field=a) MinRow(field=v)')).toEqual([
      { id: 1, count: 2 },
      { id: 7, count: 1 },
      { id: 5, count: 1 },
      { id: 0, count: 0 },
    ]);
  });
});

describe('attributes and options', () => {
  it('are merged, deleted and shown with rows', () => {
    expect(
      i.run(
        'SetRowAttrs(a, 1, z=true, name="x", n=-5, f=1.5) SetRowAttrs(a, 1, z=null, word=foo) Row(a=1) Union(Row(a=1))',
      ),
    ).toEqual([
      null,
      null,
      { attrs: { f: 1.5, n: -5, name: 'x', word: 'foo' }, columns: [] },
      { attrs: {}, columns: [] },
    ]);
    expect(i.text('Row(a=1)')).toBe('{"results":[{"attrs":{"f":1.5,"n":-5,"name":"x","word":"foo"},"columns":[]}]}');
    expect(i.run('Row(a=1)', { excludeAttributes: true })).toEqual([{ attrs: {}, columns: [] }]);
    expect(i.error('SetRowAttrs(a, 1, x=[1])')).toContain('an attribute is');
    expect(i.error('SetRowAttrs(a, 1)')).toContain('at least one attribute');
    expect(i.error('SetRowAttrs(v, 1, x=1)')).toContain('an integer field has no rows');
  });

  it('of columns are shown when asked for', () => {
    i.run(
      'Set(10,a=1)Set(20,a=1)Set(20,b=1)SetColumnAttrs(20, active=true)SetColumnAttrs(10, n=9223372036854775807)SetColumnAttrs(99, x=1)',
    );
    const list = '[{"id":10,"attrs":{"n":9223372036854775807}},{"id":20,"attrs":{"active":true}}]';
    expect(i.text('Row(a=1) Row(b=1)', { columnAttributes: true })).toBe(
      `{"results":[{"attrs":{},"columns":[10,20]},{"attrs":{},"columns":[20]}],"columnAttrs":${list}}`,
    );
    expect(i.text('Row(b=7)', { columnAttributes: true })).toBe('{"results":[{"attrs":{},"columns":[]}]}');
    expect(i.text('Row(a=1)', { columnAttributes: true, excludeColumns: true })).toBe(
      '{"results":[{"attrs":{},"columns":[]}]}',
    );
    expect(i.text('Options(Row(a=1), columnAttrs=true, excludeColumns=false, unknown=1)')).toContain(
      '"columnAttrs":[{"id":10',
    );
    expect(i.error('Options(Row(a=1), columnAttrs=1)')).toContain('true or false');
    expect(i.error('Options()')).toContain('needs a call');
  });
});

describe('keys', () => {
  beforeEach(() => {
    i = indexUnderTest({ keys: true });
    i.field('k', { keys: true });
    i.field('n');
  });

  it('name columns and rows', () => {
    expect(
      i.run(`Set("zoe", k="x") Set('amy', k="y") Set("zoe", k=y) Set("zoe", n=5) Row(k="y") Rows(k) Row(n=6)`),
    ).toEqual([
      true,
      true,
      true,
      true,
      { attrs: {}, columns: [], keys: ['zoe', 'amy'] },
      { rows: null, keys: ['x', 'y'] },
      { attrs: {}, columns: [] },
    ]);
    i.recalculate();
    expect(i.run('TopN(k) Count(Row(k="y")) GroupBy(Rows(k)) MinRow(field=k)')).toEqual([
      [
        { id: 0, key: 'y', count: 2 },
        { id: 0, key: 'x', count: 1 },
      ],
      2,
      [
        { group: [{ field: 'k', rowKey: 'x' }], count: 1 },
        { group: [{ field: 'k', rowKey: 'y' }], count: 2 },
      ],
      { id: 0, key: 'x', count: 1 },
    ]);
    expect(i.run('Rows(k, previous="x") Rows(k, column="amy") Rows(k, column="z") Rows(k, previous="z")')).toEqual([
      { rows: null, keys: ['y'] },
      { rows: null, keys: ['y'] },
      { rows: null, keys: [] },
      { rows: null, keys: [] },
    ]);
  });

  it('are no more than there is room for, and refused before anything is written', () => {
    const most = jest.replaceProperty(KeyTable, 'most', 2);
    try {
      i.run('Set("amy", k="x") Set("amy", k="y") Set("bob", k="x")');
      const written = i.changes.length;
      for (const query of [
        'Set("cat", k="x")',
        'Set("amy", k="z")',
        'SetRowAttrs(k, "z", a=1)',
        'SetColumnAttrs("cat", a=1)',
      ]) {
        expect([query, i.error(query)]).toEqual([query, expect.stringContaining('at most 2 keys')]);
      }
      const field = i.index.fields.get('k')!;
      const columnKeys = ['amy', 'cat'];
      const bits = { rows: [], rowKeys: ['x', 'x'], columns: [], columnKeys, timestamps: [], clear: false };
      expect(() => importBits(i.catalog.write, { index: i.index, field }, bits)).toThrow('at most 2 keys');
      expect(i.changes).toHaveLength(written);
    } finally {
      most.restore();
    }
  });

  it('are not created by reading', () => {
    expect(i.run('Row(k="nobody") Clear("nobody", k="x")')).toEqual([{ attrs: {}, columns: [] }, false]);
    expect(i.index.keys.size).toBe(0);
    expect(i.changes.some(({ kind }) => kind === 'keys')).toBe(false);
  });

  it('are texts, and not empty', () => {
    expect(i.error('Set(1, k="x")')).toContain('named by texts');
    expect(i.error('Set("a", k=1)')).toContain('named by texts');
    expect(i.error('Set("", k="x")')).toContain('cannot be empty');
    expect(i.error('Set("a", n="x")')).toContain('named by numbers');
    expect(i.run(`Set("ünï\\"código", k="x") Row(k="x")`)).toEqual([
      true,
      { attrs: {}, columns: [], keys: ['ünï"código'] },
    ]);
  });
});
