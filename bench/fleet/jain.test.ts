import { contendedTurns, jainIndex } from './jain';

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

  test('compares what parties received while all of them waited', () => {
    // After the second turn of b only a waits: its further turns are unfair to no other party.
    expect(contendedTurns(['a', 'b', 'a', 'b', 'a', 'a', 'a'])).toEqual([2, 2]);
    expect(contendedTurns(['a', 'a', 'a', 'b'])).toEqual([3, 0]);
    expect(contendedTurns([])).toEqual([]);
  });
});
