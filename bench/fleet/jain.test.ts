import { contestedShares, jainIndex } from './jain';

describe('fairness index', () => {
  test.each([
    [[5, 5, 5, 5], 1],
    [[20, 0, 0, 0], 0.25],
    [[1, 3], 0.8],
    [[0, 0], 1],
    [[], 1],
  ])('of %j is %d', (shares, index) => {
    expect(jainIndex(shares)).toBeCloseTo(index, 10);
  });

  test('compares what parties received of the turns that they competed for', () => {
    const sharesOf = (...places: string[][]) => Object.fromEntries(contestedShares(places));
    expect(sharesOf(['a', 'b', 'a', 'b'])).toEqual({ a: 4 / 3, b: 2 / 3 });
    // After the turn of b only a waits: its further turns are unfair to no other party.
    expect(sharesOf(['b', 'a', 'a', 'a'])).toEqual({ a: 0, b: 2 });
    expect(sharesOf(['b', 'a', 'a', 'a'], ['a', 'b'])).toEqual({ a: 1, b: 1 });
    // Neither waits for a turn at the place of the other.
    expect(sharesOf(['a', 'a'], ['b'])).toEqual({});
    expect(sharesOf(['a', 'a', 'a', 'b'])).toEqual({ a: 2, b: 0 });
  });
});
