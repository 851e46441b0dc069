import fc from 'fast-check';
import { csvCell, toCsv } from './csv';

describe('CSV', () => {
  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\r=1', '"\'\r=1"'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['two\nlines', '"two\nlines"'],
    [-1.5, '-1.5'],
    [undefined, ''],
    [null, ''],
    [false, 'false'],
  ])('the cell of %j', (value, expected) => {
    expect(csvCell(value)).toBe(expected);
  });

  /** Reads RFC 4180 back. */
  function read(csv: string): string[][] {
    const rows: string[][] = [];
    let row: string[] = [];
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
    for (let match = cell.exec(csv); match; match = cell.exec(csv)) {
      row.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
      if (match[3] === ',') {
        continue;
      }
      rows.push(row);
      row = [];
    }
    return rows;
  }

  test('every text comes back, and none of them is a formula', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', '=', '-', 'é') })), (texts) => {
        const [, ...rows] = read(
          toCsv(
            ['a'],
            texts.map((a) => ({ a })),
          ),
        );
        expect(rows.map(([cell = '']) => cell.replace(/^'(?=[=+\-@\t\r])/, ''))).toEqual(texts);
        expect(rows.every(([cell = '']) => !/^[=+\-@\t\r]/.test(cell))).toBe(true);
      }),
    );
  });
});
