import { type Int, toInt } from '../int';
import { BitSlices } from './bit-slices';

describe('bit slices loaded from a snapshot', () => {
  it('lose digits of columns without a value, which are of changes during the snapshot', () => {
    const values = new BitSlices();
    values.grow(3);
    for (const set of [values.negative, ...values.slices.slice(1)]) {
      set.add(7);
    }
    values.recount();
    // What the log has of the same time is applied on top.
    values.setMany([7], [1]);
    expect(values.get(7)).toBe(1);
    values.setMany([7], [6]);
    expect(values.get(7)).toBe(6);
    expect(values.sum()).toEqual({ value: 6, count: 1 });
  });
});

describe('many values', () => {
  it('are set in any order of their columns, of any size and sign', () => {
    const given: [column: Int, value: Int][] = [
      [2n ** 62n, -(2n ** 63n)],
      [7, 2n ** 63n - 1n],
      [2 ** 33, -(2 ** 53 - 1)],
      [3, 2 ** 32],
      [5, -(2 ** 31)],
      [4, 2 ** 32 - 1],
      [9, 2n ** 53n + 1n],
      [0, 0],
    ];
    const values = new BitSlices();
    values.setMany(
      given.map(([column]) => column),
      given.map(([, value]) => value),
    );
    expect(given.map(([column]) => [column, values.get(column)])).toEqual(given);
    expect(values.sum()).toEqual({ value: toInt(given.reduce((sum, [, value]) => sum + BigInt(value), 0n)), count: 8 });
  });
});
