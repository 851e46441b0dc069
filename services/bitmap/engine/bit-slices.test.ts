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
