import fc from 'fast-check';
import { matchesGlob } from './glob';

describe('a path pattern', () => {
  it.each([
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**', 'src/deep/a.ts', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/x/y/a.ts', true],
    ['**/*.md', 'README.md', true],
    ['**/test/**', 'a/test/b/c', true],
    ['**/test/**', 'a/tests/b', false],
    ['docs/?.md', 'docs/a.md', true],
    ['docs/?.md', 'docs/ab.md', false],
    ['a.ts', 'axts', false],
    ['docs', './docs/', true],
    ['src', 'src/a.ts', false],
  ])('%s and %s: %s', (glob, path, expected) => {
    expect(matchesGlob(glob, path)).toBe(expected);
  });

  const part = fc.stringMatching(/^[ab.]{1,5}$/).filter((text) => text !== '.' && text !== '..');
  const path = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));

  it('matches itself, and everything below and above with two stars', () => {
    fc.assert(
      fc.property(path, path, (left, right) => {
        expect(matchesGlob(left, left)).toBe(true);
        expect(matchesGlob(`${left}/**`, `${left}/${right}`)).toBe(true);
        expect(matchesGlob(`**/${right}`, `${left}/${right}`)).toBe(true);
      }),
    );
  });

  it('means what a regular expression of it means', () => {
    const symbol = fc.constantFrom('a', 'b', '*', '?', '.');
    const glob = fc.array(
      fc.oneof(
        fc.constant('**'),
        fc.array(symbol, { minLength: 1, maxLength: 4 }).map((s) => s.join('')),
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(glob, path, (parts, tested) => {
        const expression = parts
          .map((p) => {
            if (/^\*\*+$/.test(p)) {
              return p === '**' ? '(?:[^/]+/)*' : '[^/]*/';
            }
            return `${p.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}/`;
          })
          .join('');
        expect(matchesGlob(parts.join('/'), tested)).toBe(new RegExp(`^${expression}$`).test(`${tested}/`));
      }),
    );
  });

  it('comes to an end on hostile input', () => {
    const hostile = '*a'.repeat(90);
    expect(matchesGlob(hostile, 'a'.repeat(1_000) + 'b')).toBe(false);
    expect(matchesGlob(Array.from({ length: 60 }, () => '**/a').join('/'), 'a/'.repeat(500) + 'b')).toBe(false);
  });
});
