import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { digestOf, textDigest } from './digest';

describe('JSON digest', () => {
  test('a digest is the SHA-256 of the canonical form', () => {
    expect(digestOf({ b: 1, a: 'x' })).toBe(textDigest('{"a":"x","b":1}'));
    expect(digestOf({})).toBe('sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });

  test('a digest depends on the value, not on the order of its fields', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) {
        return value.map(shuffled);
      }
      if (typeof value !== 'object' || value === null) {
        return value;
      }
      return Object.fromEntries(
        Object.entries(value)
          .map(([key, item]) => [key, shuffled(item)])
          .reverse(),
      );
    };
    fc.assert(fc.property(fc.jsonValue(), (value) => digestOf(shuffled(value)) === digestOf(value)));
  });

  test('a value that went through JSON has the same digest', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => digestOf(JSON.parse(JSON.stringify(value))) === digestOf(value)));
  });

  test('different values have different canonical forms', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        // -0 and 0 are one number in JSON.
        const same = JSON.stringify(a) === JSON.stringify(b);
        if (canonicalize(a) === canonicalize(b)) {
          expect(JSON.parse(canonicalize(a) ?? '')).toEqual(JSON.parse(JSON.stringify(b)));
        } else {
          expect(same).toBe(false);
        }
      }),
    );
  });

  /** RFC 8785, 3.2.3 and appendix B: keys in UTF-16 order, numbers as ECMAScript prints them. */
  test.each([
    [
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    [[333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0], '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]'],
    ['\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [[null, true, false, '', []], '[null,true,false,"",[]]'],
  ])('the canonical form of %j', (value, expected) => {
    expect(canonicalize(value)).toBe(expected);
  });

  test.each([[undefined], [() => 1]])('%s has no digest', (value) => {
    expect(() => digestOf(value)).toThrow(TypeError);
  });
  test.each([[Number.NaN], [Number.POSITIVE_INFINITY]])('%s has no canonical form', (value) => {
    expect(() => digestOf({ value })).toThrow();
  });
});
