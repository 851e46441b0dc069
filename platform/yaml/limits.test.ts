import fc from 'fast-check';
import { excessOf } from './limits';

const nested = 'a file is nested more than 100 levels deep';

describe('the limits of YAML', () => {
  test('99 list marks in a row are parsed and 100 are refused, whatever is between them', () => {
    for (const mark of ['- ', '-\t', `-${' '.repeat(20_000)}`, ': ', '? ']) {
      expect(excessOf(mark.repeat(99), 'a file')).toBeUndefined();
      expect(excessOf(`${mark.repeat(99)}x${mark.repeat(99)}`, 'a file')).toBeUndefined();
      expect(excessOf(`a: b\n${mark.repeat(100)}x`, 'a file')).toBe(nested);
    }
  });

  test('a row of marks is found as one pattern for all of them finds it', () => {
    const row = /(?:[-?:][ \t]+){100}/;
    const marks = fc.constantFrom('- '.repeat(50), '-- ', ' ', ': ', '-\t \t', 'x', '?', '- '.repeat(20));
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 12 }), (parts) => {
        const yaml = parts.join('');
        expect(excessOf(yaml, 'a file')).toBe(row.test(yaml) ? nested : undefined);
      }),
    );
  });
});
