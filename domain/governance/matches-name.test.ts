import fc from 'fast-check';
import { matchesName } from './matches-name';

describe('name pattern match', () => {
  it.each([
    ['read', 'read', true],
    ['read', 'reader', false],
    ['read', 'Read', false],
    ['read*', 'reader', true],
    ['read*', 'read', true],
    ['read*', 'unread', false],
    ['*', 'anything', true],
    ['git.*', 'gitx', false],
  ])('%s and %s: %s', (pattern, name, expected) => {
    expect(matchesName(pattern, name)).toBe(expected);
  });

  it('takes nothing in a pattern for more than a letter', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (beginning, rest) => {
        fc.pre(!beginning.endsWith('*'));
        expect(matchesName(beginning, beginning)).toBe(true);
        expect(matchesName(`${beginning}*`, beginning + rest)).toBe(true);
        expect(matchesName(beginning, beginning + rest)).toBe(rest === '');
      }),
    );
  });
});
