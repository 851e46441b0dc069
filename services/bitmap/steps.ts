/** Work in steps, between which others may be served, and its result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does all of the work at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      return step.value;
    }
  }
}

/** So many items are sorted, or passed over, in one step; so many rows counted; and so many pairs of rows combined. */
export const itemsOfStep = 8_192;
export const rowsOfStep = 64;
export const pairsOfStep = 8;

/** Sorts into a new list. */
export function* sortedInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += itemsOfStep) {
    runs.push(items.slice(from, from + itemsOfStep).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left = [], right] = runs.slice(at, at + 2);
      merged.push(right ? yield* merge(left, right, compare) : left);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const takesLeft = j >= right.length || (i < left.length && compare(left[i] as T, right[j] as T) <= 0);
    merged.push((takesLeft ? left[i++] : right[j++]) as T);
    if (merged.length % itemsOfStep === 0) {
      yield;
    }
  }
  return merged;
}
