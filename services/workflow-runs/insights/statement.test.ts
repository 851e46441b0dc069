import fc from 'fast-check';
import { assertOneQuery } from './statement';

describe('query statement', () => {
  it.each([
    'SELECT 1',
    ' \n select 1 ; ; -- done',
    '-- what for\nSELECT 1',
    '/* what; for */ WITH a AS (SELECT 1) SELECT * FROM a',
    'VALUES (1), (2)',
    `SELECT ';' AS "a;b", [c;d], \`e;f\` FROM runs WHERE x = 'it''s; fine'`,
    'SELECT 1 /* never ends; SELECT 2',
  ])('takes %s', (sql) => {
    expect(() => assertOneQuery(sql)).not.toThrow();
  });

  it.each([
    ['SELECT 1; SELECT 2', 'Only one statement can be executed.'],
    [`SELECT ';'; DROP TABLE runs`, 'Only one statement can be executed.'],
    [`SELECT 'it''s'; ATTACH 'x' AS y`, 'Only one statement can be executed.'],
    ['', 'The query has no statement.'],
    [' ; -- nothing', 'The query has no statement.'],
    [`ATTACH 'x' AS y`, 'Only SELECT can be executed.'],
    ['PRAGMA query_only = 0', 'Only SELECT can be executed.'],
    ['EXPLAIN SELECT 1', 'Only SELECT can be executed.'],
    ['/* SELECT */ DELETE FROM runs', 'Only SELECT can be executed.'],
    ['"select" 1', 'Only SELECT can be executed.'],
  ])('refuses %s', (sql, message) => {
    expect(() => assertOneQuery(sql)).toThrow(message);
  });

  it('finds a second statement behind any quoted text', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(`'`, '"', '`'), (content, quote) => {
        const quoted = quote + content.replaceAll(quote, quote + quote) + quote;
        expect(() => assertOneQuery(`SELECT ${quoted}`)).not.toThrow();
        expect(() => assertOneQuery(`SELECT ${quoted}; SELECT 2`)).toThrow('Only one statement');
      }),
    );
  });

  // A time that grows with the square of the length is minutes here; one in proportion is far below the bound on any machine.
  it('takes time in proportion to any text', () => {
    for (const piece of [`'`, `'a`, '"', '`', '/*', '--', '(', '[', ';', ' ', 'a']) {
      const began = performance.now();
      try {
        assertOneQuery(`SELECT ${piece.repeat(400_000)}`);
      } catch {
        // Only the duration matters.
      }
      expect(performance.now() - began).toBeLessThan(10_000);
    }
  });
});
