import { setImmediate as nextTurn } from 'node:timers/promises';
import { BitSlices } from './bit-slices';

/** The same numbers in every run, from -500,000 to 499,999. */
function* numbers(): Generator<number, never> {
  for (let state = 7; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield Math.floor((state / 2 ** 32) * 1_000_000) - 500_000;
  }
}

const size = 100_000;

/** A field with a value for every third column, and the same as a list. */
function filled(): { slices: BitSlices; values: number[]; next: () => number } {
  const random = numbers();
  const next = (): number => random.next().value;
  const values = Array.from({ length: size }, next);
  const slices = new BitSlices();
  slices.setMany(
    values.map((_, at) => at * 3),
    values,
  );
  return { slices, values, next };
}

const seen = (slices: BitSlices, from: number, to: number): unknown[] => [
  slices.countBetween(from, to),
  slices.min(),
  slices.max(),
];

function expected(values: readonly number[], from: number, to: number): unknown[] {
  const count = (value: number): { value: number; count: number } => ({
    value,
    count: values.filter((one) => one === value).length,
  });
  const least = values.reduce((a, b) => Math.min(a, b));
  const most = values.reduce((a, b) => Math.max(a, b));
  return [values.filter((value) => value >= from && value <= to).length, count(least), count(most)];
}

describe('bitmap value counts', () => {
  it('counts a large field while it answers, and while it is written to', async () => {
    const { slices, values, next } = filled();
    expect(seen(slices, -1000, 70_000)).toEqual(expected(values, -1000, 70_000));
    expect(slices.isCounted).toBe(false);
    let turns = 0;
    for (; !slices.isCounted; turns += 1) {
      const at = turns % size;
      values[at] = turns === 3 ? 900_000 : next();
      slices.set(at * 3, values[at]);
      await nextTurn();
    }
    // In more than one piece.
    expect(turns).toBeGreaterThan(2);
    expect(seen(slices, -1000, 70_000)).toEqual(expected(values, -1000, 70_000));
  });

  it('knows the least and the most after every change', async () => {
    const { slices, values } = filled();
    seen(slices, 0, 0);
    while (!slices.isCounted) {
      await nextTurn();
    }
    for (const [at, value] of [-600_000, -600_000, 700_000, 5, 6, 7].entries()) {
      slices.set(at * 3, value);
      values[at] = value;
      expect(seen(slices, -600_000, 5)).toEqual(expected(values, -600_000, 5));
    }
    for (const at of [0, 1, 2]) {
      slices.set(at * 3, 1);
      values[at] = 1;
      expect(seen(slices, 0, 1)).toEqual(expected(values, 0, 1));
    }
  });

  it('merges many changes', async () => {
    const { slices, values, next } = filled();
    seen(slices, 0, 0);
    while (!slices.isCounted) {
      await nextTurn();
    }
    for (let at = 0; at < 5_000; at += 1) {
      const value = next();
      values[at] = value;
      slices.set(at * 3, value);
    }
    expect(seen(slices, -250_000, 250_000)).toEqual(expected(values, -250_000, 250_000));
  });

  it('gives counting up when values become too large for it', async () => {
    const { slices } = filled();
    seen(slices, 0, 0);
    slices.set(0, 2n ** 60n);
    for (let turn = 0; turn < 5; turn += 1) {
      await nextTurn();
    }
    expect(slices.isCounted).toBe(false);
    expect(slices.max()).toEqual({ value: 2n ** 60n, count: 1 });
  });
});
