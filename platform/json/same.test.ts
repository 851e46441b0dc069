import { isSameJson } from './same';

describe('JSON equality', () => {
  it.each([
    [{ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, true],
    [{ a: undefined }, {}, true],
    [undefined, undefined, true],
    ['a', 'a', true],
    [{ a: null }, {}, false],
    [[1, 2], [2, 1], false],
    [{ a: 1 }, { a: '1' }, false],
  ])('%j and %j are the same JSON: %s', (a, b, same) => expect(isSameJson(a, b)).toBe(same));
});
