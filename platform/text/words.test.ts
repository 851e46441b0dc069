import fc from 'fast-check';
import { wordsAt, wordsOf } from './words';

describe('words of a text', () => {
  it.each([
    ['Retry the Webhook-delivery (v2)!', ['retry', 'the', 'webhook', 'delivery', 'v2']],
    ['Übergröße CAFÉ cafe\u0301', ['ubergroße', 'cafe', 'cafe']],
    ['ｆｕｌｌ width ½', ['full', 'width', '12']],
    ['検索 abc漢字', ['検', '索', 'abc', '漢', '字']],
    ['" OR NEAR(a b) title:x*', ['or', 'near', 'a', 'b', 'title', 'x']],
    ['\u0000\ud800 -- ;', []],
  ])('of %j are %j', (text, words) => {
    expect(wordsOf(text, 100)).toEqual(words);
  });

  it('are as many as are asked for, and none is longer than 64 characters', () => {
    expect(wordsOf('a b c', 2)).toEqual(['a', 'b']);
    expect(wordsOf('x'.repeat(1_000), 5)).toEqual(['x'.repeat(64)]);
  });

  it('have their positions, and nothing but letters and digits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        for (const { word, index } of wordsAt(text)) {
          expect(word).toMatch(/^[\p{L}\p{N}]+$/u);
          expect(wordsOf(text.slice(index), 1)).toEqual([word]);
        }
      }),
    );
  });
});
