import fc from 'fast-check';
import { exactJson, parseExactJson } from './exact';

const least = -(2n ** 63n);
const greatest = 2n ** 64n - 1n;

describe('exact JSON', () => {
  it('holds every integer, as a number where that is exact', () => {
    expect(
      parseExactJson('[9007199254740991, 9007199254740992, -9007199254740992, 18446744073709551615, 1, -3]'),
    ).toEqual([9007199254740991, 9007199254740992n, -9007199254740992n, greatest, 1, -3]);
    expect(parseExactJson('{"f": 0.12345678901234567, "e": 1e20, "s": "12345678901234567890"}')).toEqual({
      f: 0.12345678901234567,
      e: 1e20,
      s: '12345678901234567890',
    });
  });

  it('reads what it wrote', () => {
    const integer = fc
      .bigInt({ min: least, max: greatest })
      .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));
    const value = fc.oneof(integer, fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null));
    const document = fc.dictionary(fc.string(), fc.oneof(value, fc.array(value)));
    fc.assert(fc.property(document, (given) => expect(parseExactJson(exactJson(given))).toEqual(given)));
  });

  it('leaves out what is undefined, and keeps the order of keys', () => {
    expect(exactJson({ b: 1n, a: undefined, c: [undefined, 2] })).toBe('{"b":1,"c":[null,2]}');
  });

  it('reads texts of any length', () => {
    const long = 'x'.repeat(20_000_000);
    expect(parseExactJson(`{"a":"${long}"}`)).toEqual({ a: long });
  });

  it.each(['', '{', '01', '1234567890123456,', '{"a":01234567890123456789}', '[1 2]'])('refuses %s', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it('gives an object no prototype that a text names', () => {
    for (const number of ['1', '12345678901234567890']) {
      expect(Object.getPrototypeOf(parseExactJson(`{"__proto__": {"x": ${number}}}`))).toBe(Object.prototype);
    }
  });
});
