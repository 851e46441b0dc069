import { cellOf, collectRows } from './cells';

describe('query result cells', () => {
  it.each<[unknown, unknown]>([
    ['text', 'text'],
    [null, null],
    [1.5, 1.5],
    [7n, 7],
    [-9007199254740991n, -9007199254740991],
    [9007199254740993n, '9007199254740993'],
    [-9223372036854775808n, '-9223372036854775808'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [Buffer.from([0, 255]), '00ff'],
    [Buffer.alloc(0), ''],
  ])('answers %p as %p', (value, cell) => {
    expect(cellOf(value)).toBe(cell);
  });

  it('refuses an answer that is too large, and reads no further', () => {
    const limits = { rows: 3, cells: 4, bytes: 100 };
    let read = 0;
    function* rows(row: unknown[]) {
      for (;;) {
        read += 1;
        yield row;
      }
    }
    expect(() => collectRows(rows(['a']), limits)).toThrow('The response has more than 3 rows');
    expect(read).toBe(4);
    expect(() => collectRows(rows(['a', 'b', 'c']), limits)).toThrow('more than 4 values');
    expect(() => collectRows(rows(['ü'.repeat(51)]), limits)).toThrow('more than 100 bytes');
    expect(collectRows([['a'], ['b'], [1n]], limits)).toEqual([['a'], ['b'], [1]]);
  });
});
