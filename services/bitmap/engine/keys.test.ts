import { keyBatches, KeyTable } from './keys';

describe('batches of keys', () => {
  const batches = (keys: readonly string[], first = 1) => [...keyBatches(keys, first)];

  it('hold all keys in order, with the id of the first one of each', () => {
    const keys = Array.from({ length: 25_001 }, (_, at) => `key ${at}`);
    const table = new KeyTable();
    for (const batch of batches(keys)) {
      table.load(batch.first, batch.keys);
    }
    expect(table.all()).toEqual(keys);
    expect(batches(keys, 8).map(({ first, keys: { length } }) => [first, length])).toEqual([
      [8, 10_000],
      [10_008, 10_000],
      [20_008, 5_001],
    ]);
    expect(batches([])).toEqual([]);
  });

  it('become texts that are not too long, however long the keys are', () => {
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(600_000));
    const longer = 'd'.repeat(3_000_000);
    expect(batches([...long, longer, 'e', 'f']).map(({ keys }) => keys.map(({ length }) => length))).toEqual([
      [600_000],
      [600_000],
      [600_000],
      [3_000_000],
      [1, 1],
    ]);
  });
});
