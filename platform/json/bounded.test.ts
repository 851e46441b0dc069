import fc from 'fast-check';
import { JsonLimitError, parseBoundedJson } from './bounded';

const limits = { depth: 8, values: 100, nameLength: 20 };
const parse = (text: string) => parseBoundedJson(text, limits);
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('JSON from outside', () => {
  it('equals JSON.parse within the limits, whatever is in its texts', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        const roomy = { depth: 64, values: 100_000, nameLength: 10_000 };
        if (!text.includes('__proto__')) {
          expect(parseBoundedJson(text, roomy)).toEqual(JSON.parse(text));
        }
      }),
    );
    expect(parse('{"a":"[[[[[[[[[[[{{{{,,,:\\"\\\\"}')).toEqual({ a: '[[[[[[[[[[[{{{{,,,:"\\' });
  });

  it.each([
    ['a deep list', nested(100_000)],
    ['a deep list that is never closed', '['.repeat(100_000)],
    ['a deep object', '{"a":'.repeat(100_000)],
    ['one level more than the limit', nested(9)],
    ['many values', `[${'1,'.repeat(200)}1]`],
    ['many fields', `{${Array.from({ length: 101 }, (_, index) => `"k${index}":1`).join(',')}}`],
    ['a long name', `{"${'k'.repeat(21)}":1}`],
    ['a prototype', '{"__proto__":{"admin":true}}'],
    ['a prototype in escapes', '{"\\u005f_proto__":{"admin":true}}'],
  ])('is refused with %s', (_what, text) => {
    expect(() => parse(text)).toThrow(JsonLimitError);
  });

  it('has neither halves of characters nor numbers that no store takes', () => {
    expect(parse('{"a\\ud800":["\\udfff",1e999,-1e999,"\\ud83d\\ude00"]}')).toEqual({
      'a\ufffd': ['\ufffd', null, null, '😀'],
    });
  });

  it('is refused as no JSON where it is none', () => {
    for (const text of ['', '{', '[1,]', '"a', '{"a":1}}', nested(3) + ']']) {
      expect(() => parse(text)).toThrow(SyntaxError);
    }
  });
});
