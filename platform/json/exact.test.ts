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

  it('reads no fraction as the integer that it would be rounded to', () => {
    const rounded = [
      '1.0000000000000001',
      '0.99999999999999999',
      '-90071992.0000000001',
      '9007199254740990.9',
      '1e-400',
    ];
    for (const text of [...rounded, '-1.5e-400', `0.${'0'.repeat(400)}1`, `1${'0'.repeat(16)}1e-17`]) {
      expect([text, parseExactJson(`{"a":[${text}]}`)]).toEqual([text, { a: [NaN] }]);
    }
    const integers = ['1.0', '-0.0000000000000000', '1e2', '10e-1', '90071992547409900000e-4', '0e-99999', '1.50e1'];
    expect(parseExactJson(`[${integers.join(',')}]`)).toEqual([1, -0, 100, 1, 9007199254740990, 0, 15]);
    expect(parseExactJson('[1.5, 2.5e-3, 0.30000000000000004]')).toEqual([1.5, 0.0025, 0.30000000000000004]);
  });

  it('reads integers that are too long for anything in a moment', () => {
    const started = performance.now();
    expect(parseExactJson(`[${'9'.repeat(4_000_000)},-${'9'.repeat(101)}]`)).toEqual([Infinity, -1e101]);
    expect(performance.now() - started).toBeLessThan(1_000);
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
