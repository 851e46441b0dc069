import { jsonPathMatches, JsonPathProblem } from './json-path';

const limits = { nodes: 10, bytes: 10_000 };
const shop = {
  books: [
    { title: 'A', price: 5 },
    { title: 'B', price: 15 },
  ],
  '': { __proto__: 1 },
  open: null,
};
const find = (path: string, document: unknown = shop) => jsonPathMatches(document, path, limits);

describe('a JSONPath', () => {
  it('finds values with their normalized paths', () => {
    expect(find('$.books[?@.price < 10].title')).toEqual({
      matches: [{ path: "$['books'][0]['title']", value: 'A' }],
      truncated: false,
    });
    expect(find('$.open').matches).toEqual([{ path: "$['open']", value: null }]);
    expect(find('$').matches[0]?.value).toEqual(shop);
    expect(find('$.nothing')).toEqual({ matches: [], truncated: false });
    expect(find('$..price').matches.map(({ value }) => value)).toEqual([5, 15]);
    expect(find('$[?length(@.title) == 1].price', shop.books).matches).toHaveLength(2);
  });

  it('answers no more than it may', () => {
    const list = Array.from({ length: 100 }, (_, n) => n);
    expect(find('$[*]', list)).toMatchObject({ matches: { length: 10 }, truncated: true });
    expect(find('$[*]', ['x'.repeat(9_900), 'y'.repeat(200)])).toMatchObject({
      matches: { length: 1 },
      truncated: true,
    });
  });

  it.each(['', 'books', '$[', '$.books[?(1==1)', '$.books[(@.length-1)]', "$.books[?match(@.title, '(a+)+')]", '$$'])(
    'is refused where it is none, or would run code or regular expressions: %s',
    (path) => {
      expect(() => find(path)).toThrow(JsonPathProblem);
    },
  );

  it('is ended when it visits too many nodes', () => {
    const wide = Array.from({ length: 2_000 }, () => ({ a: 1 }));
    expect(() => find('$[?$[*].b]', wide)).toThrow(/too many values/);
    const deep: unknown = JSON.parse('['.repeat(60) + ']'.repeat(60));
    expect(() => find(`$${'[*,*]'.repeat(55)}.x`, deep)).toThrow(/too many values/);
  });

  it('is refused when it leads too deep', () => {
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(() => find('$..x', deep)).toThrow(JsonPathProblem);
    expect(() => find('$', deep)).toThrow(JsonPathProblem);
  });
});
