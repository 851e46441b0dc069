import { recentCount } from './recent-count';

/** A count of what is in `state`, which records how often it was taken. */
function counting() {
  const state = { value: 0, now: 0, counted: 0 };
  const count = recentCount(
    () => {
      state.counted += 1;
      return Promise.resolve(state.value);
    },
    () => state.now,
  );
  return { state, count };
}

describe('recent counts', () => {
  it('answers a count of a moment ago, and one more for each who asked, while that is far from the limit', async () => {
    const { state, count } = counting();
    state.value = 4;
    expect(await count('a', 100)).toBe(4);
    state.value = 9;
    expect(await count('a', 100)).toBe(5);
    expect(state.counted).toBe(1);
    // For a limit that is nearer it is not good enough, nor for another key.
    expect(await count('a', 8)).toBe(9);
    expect(await count('b', 100)).toBe(9);
    expect(state.counted).toBe(3);
    state.now = 250;
    state.value = 20;
    expect(await count('b', 100)).toBe(20);
  });

  it('never lets one process pass a limit, however many ask at once', async () => {
    const { state, count } = counting();
    let refused = 0;
    for (let asked = 0; asked < 12; asked += 1) {
      if ((await count('a', 5)) < 5) {
        state.value += 1;
      } else {
        refused += 1;
      }
    }
    expect([state.value, refused]).toEqual([5, 7]);
  });
});
