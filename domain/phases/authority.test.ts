import fc from 'fast-check';
import { phase } from '../../contracts/common';
import { type Authority, compare, mapAuthority, meet, unlimited, within } from './authority';
import { phaseAuthority } from './table';

const scope = fc.constantFrom('*', 'workspace', 'inspect', 'build', 'read', 'mutate', 'a.example');
const scoped = fc.record({
  scopes: fc.array(scope, { maxLength: 4 }),
  approval: fc.array(scope, { maxLength: 3 }),
});
const authority = fc.array(scoped, { minLength: 7, maxLength: 7 }).map((rows): Authority => {
  const left = [...rows];
  return mapAuthority(() => left.shift() ?? { scopes: [], approval: [] });
});

const holds = (check: (a: Authority, b: Authority, c: Authority) => void) =>
  fc.assert(fc.property(authority, authority, authority, check), { numRuns: 300 });

describe('phase authority', () => {
  test('what two sources allow does not depend on their order, or on how they are grouped or repeated', () => {
    holds((a, b, c) => {
      expect(meet(a, b)).toEqual(meet(b, a));
      expect(meet(meet(a, b), c)).toEqual(meet(a, meet(b, c)));
      expect(meet(a, a)).toEqual(a);
      expect(meet(a, unlimited)).toEqual(a);
    });
  });

  test('another source never adds anything, and what is less stays less', () => {
    holds((a, b, c) => {
      expect(within(meet(a, b), a)).toBe(true);
      expect(within(a, unlimited)).toBe(true);
      if (within(a, b)) {
        expect(within(meet(a, c), meet(b, c))).toBe(true);
      }
      if (within(a, b) && within(b, c)) {
        expect(within(a, c)).toBe(true);
      }
    });
  });

  test('a comparison reports the same in both directions', () => {
    holds((a, b) => {
      const forth = compare(a, b);
      const back = compare(b, a);
      expect(forth === 'same').toBe(back === 'same');
      if (forth === 'narrower') {
        expect(back).toBe('wider');
      }
      if (forth === 'same') {
        expect(a).toEqual(b);
      }
    });
  });

  test('giving up an approval is more, and asking for one is less', () => {
    const publish = phaseAuthority('publish');
    const without = mapAuthority((dimension) => ({ ...publish[dimension], approval: [] }));
    expect(compare(without, publish)).toBe('wider');
    expect(compare(publish, without)).toBe('narrower');
  });

  test('scopes match exactly: no scope holds another', () => {
    const of = (scopes: string[]) => mapAuthority(() => ({ scopes, approval: [] }));
    expect(compare(of(['src/a']), of(['src']))).toBe('wider');
    expect(compare(of(['src']), of(['*']))).toBe('narrower');
  });

  test.each(phase.options.map((name) => [name]))('the row of %s is in normal form', (name) => {
    const row = phaseAuthority(name);
    expect(meet(row, row)).toEqual(row);
    expect(compare(row, unlimited)).toBe('narrower');
  });
});
