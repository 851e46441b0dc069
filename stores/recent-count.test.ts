import { recentCount } from './recent-count';

it('answers a count of a moment ago while that is far from the limit, and counts anew near it', async () => {
  let value = 4;
  let now = 0;
  let counted = 0;
  const count = recentCount(
    async () => {
      counted += 1;
      return value;
    },
    () => now,
  );
  expect(await count('a', 10)).toBe(4);
  value = 5;
  expect(await count('a', 10)).toBe(4);
  expect(counted).toBe(1);
  // For a limit that is nearer it is not good enough, nor for another key.
  expect(await count('a', 8)).toBe(5);
  expect(await count('b', 100)).toBe(5);
  expect(counted).toBe(3);
  now = 250;
  value = 6;
  expect(await count('b', 100)).toBe(6);
});
