import { tokensOf } from './tokens';

describe('tokens of a text', () => {
  it.each([
    ['', 0],
    ['abc', 1],
    ['abcd', 2],
    ['日本', 4],
    ['a🙂', 5],
  ])('of %j are about %i', (text, tokens) => {
    expect(tokensOf(text)).toBe(tokens);
  });
});
